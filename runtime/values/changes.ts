/** Changes of what is kept: what is left out stays. */

/** The fields that were given. */
export function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

/** Of each field at every depth of object; a list is whole. */
export type Change<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Change<T[K]> | undefined }
    : T

/**
 * A change laid over what was: what is left out stays, at every depth of object; lists are replaced whole. `emptyIs`:
 * what an empty text becomes, where only what may be null may be empty.
 */
export function merged<T extends object>(before: T, change: NoInfer<Change<T>>, emptyIs: '' | null = ''): T {
  const whole = { ...before } as Record<string, unknown>
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) continue
    const there = whole[key]
    if (isPlain(there) && isPlain(value)) whole[key] = merged(there, value, emptyIs)
    else whole[key] = value === '' ? emptyIs : value
  }
  return whole as T
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON whatever the order of its keys: two values are the same when this is. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([x], [y]) => (x < y ? -1 : 1)))
      : each,
  )
