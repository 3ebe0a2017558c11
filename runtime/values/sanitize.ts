/** Sanitizes data from outside so that our tables can store it: one odd event must not fail the rest of a batch. */

const levelsAtMost = 64
const years = { from: 0, before: Date.UTC(2100, 0, 1) }
const [earliest, latest] = [new Date(years.from).toISOString(), new Date(years.before - 1).toISOString()]

/** JSON without content that PostgreSQL cannot store: NUL and lone surrogates, in keys too, and unlimited depth. */
export function sanitize(value: unknown, level = 0): unknown {
  if (typeof value === 'string') return sanitizeText(value)
  if (typeof value !== 'object' || value === null) return value
  if (level === levelsAtMost) return null
  if (Array.isArray(value)) return value.map((each) => sanitize(each, level + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [sanitizeText(key), sanitize(each, level + 1)]),
  )
}

export const sanitizeText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** The same for a cell of a file, which stays invalid: its row gets an issue when it is parsed. */
export const sanitizeCell = (text: string): string =>
  text.isWellFormed() ? text.replaceAll('\0', '\u0001') : `${sanitizeText(text)}\u0001`

/** Whether an instant can be real; in milliseconds, false if it is not a number. */
export const isPlausible = (at: number): boolean => at >= years.from && at < years.before

/**
 * An instant from outside, such as the day of an imported order ("0022-05-01"): the nearest plausible one. Beyond
 * these bounds databases, days and drivers disagree.
 */
export function plausibleInstant(text: string): string {
  const at = Date.parse(text)
  if (at < years.from) return earliest
  return at >= years.before ? latest : text
}
