/** Settings with a change over them. No database. */

type Change<T> = {
  [K in keyof T]?:
    | (T[K] extends readonly unknown[] ? T[K] : T[K] extends object ? Change<T[K]> : T[K])
    | undefined
}

/** What is left out stays, at every depth of object; lists are replaced, an empty text becomes null. */
export function merged<T extends object>(before: T, change: Change<T>): T {
  const whole = { ...before } as Record<string, unknown>
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) continue
    const there = whole[key]
    // Only what may be null may be empty.
    whole[key] = value === '' ? null : isPlain(there) && isPlain(value) ? merged(there, value) : value
  }
  return whole as T
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
