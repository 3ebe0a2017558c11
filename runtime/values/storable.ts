/** What others send, made such that our tables can hold it: of a batch, one odd event must not fail the rest. */

const levelsAtMost = 64
const years = { from: 0, before: Date.UTC(2100, 0, 1) }
const [earliest, latest] = [new Date(years.from).toISOString(), new Date(years.before - 1).toISOString()]

/** JSON without what PostgreSQL's cannot hold: NUL and halves of characters, in keys too, and endless depth. */
export function storable(value: unknown, level = 0): unknown {
  if (typeof value === 'string') return storableText(value)
  if (typeof value !== 'object' || value === null) return value
  if (level === levelsAtMost) return null
  if (Array.isArray(value)) return value.map((each) => storable(each, level + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [storableText(key), storable(each, level + 1)]),
  )
}

export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** The same of a cell of a file, which stays odd: its row is told of as a fault when it is read. */
export const storableCell = (text: string): string =>
  text.isWellFormed() ? text.replaceAll('\0', '\u0001') : `${storableText(text)}\u0001`

/** Whether something can have happened, or be meant, then; in milliseconds, and no when it is no number. */
export const isPlausible = (at: number): boolean => at >= years.from && at < years.before

/**
 * An instant that others name freely, such as the day of an order that was brought from elsewhere ("0022-05-01"): the
 * nearest that can have happened. What was long ago stays so; beyond, databases, days and drivers disagree.
 */
export function plausibleInstant(text: string): string {
  const at = Date.parse(text)
  if (at < years.from) return earliest
  return at >= years.before ? latest : text
}
