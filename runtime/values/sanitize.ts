/**
 * Makes data of providers and imports storable in our tables, so that one invalid event does not fail a whole batch.
 */

const levelsAtMost = 64
const years = { from: 0, before: Date.UTC(2100, 0, 1) }
const [earliest, latest] = [new Date(years.from).toISOString(), new Date(years.before - 1).toISOString()]

/** Removes from JSON what PostgreSQL cannot store: NUL and lone surrogates, in keys too. Limits the depth to 64. */
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

/**
 * Like `sanitizeText`, for a cell of a file. A cell that had to be changed gets U+0001, so that its row gets an issue.
 */
export const sanitizeCell = (text: string): string =>
  text.isWellFormed() ? text.replaceAll('\0', '\u0001') : `${sanitizeText(text)}\u0001`

/** Whether an instant (in milliseconds) is in the years 1970 to 2099; false for NaN. */
export const isPlausible = (at: number): boolean => at >= years.from && at < years.before

/**
 * Clamps an instant of a provider or an import, such as the day "0022-05-01" of an imported order, to the plausible
 * years: beyond them databases and drivers disagree about days.
 */
export function plausibleInstant(text: string): string {
  const at = Date.parse(text)
  if (at < years.from) return earliest
  return at >= years.before ? latest : text
}
