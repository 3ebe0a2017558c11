/** A change laid over settings: what is left out stays, at every depth of object; lists are replaced whole. */

type Change<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Change<T[K]> | undefined }
    : T

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function merged<T extends object>(settings: T, change: Change<T>): T {
  const result: Record<string, unknown> = { ...(settings as object) }
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) continue
    const before = result[key]
    result[key] = isObject(value) && isObject(before) ? merged(before, value) : value
  }
  return result as T
}
