/** Functions for partial changes, in which an absent field keeps its value. */

/** Returns the object without fields that are undefined. */
export function omitUndefined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

/** The type of a change: all fields are optional, at every depth of objects. A list is always given whole. */
export type Change<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Change<T[K]> | undefined }
    : T

/**
 * Merges a change: an absent field keeps its value, at every depth of objects; lists are replaced whole. `emptyIs`:
 * the stored value of an empty text, for fields that may be null but not empty.
 */
export function mergeChange<T extends object>(
  before: T,
  change: NoInfer<Change<T>>,
  emptyIs: '' | null = '',
): T {
  const whole = { ...before } as Record<string, unknown>
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) continue
    const there = whole[key]
    if (isPlain(there) && isPlain(value)) whole[key] = mergeChange(there, value, emptyIs)
    else whole[key] = value === '' ? emptyIs : value
  }
  return whole as T
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns JSON with sorted keys, so that two values are equal if their texts are equal. */
export const toCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([x], [y]) => (x < y ? -1 : 1)))
      : each,
  )
