/** Names of time zones and languages. */
import { type Kysely, sql } from 'kysely'
import { refuse, sqlState } from '#runtime/errors'

/** Of three letters, the names that are one zone to everybody. */
const abbreviations: readonly string[] = ['EST', 'GMT', 'HST', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC']

/**
 * Whether it is an IANA name (`America/Sao_Paulo`, in its own spelling). What means one thing to JavaScript and another
 * to PostgreSQL is none: offsets such as `+03:00`, and abbreviations (`ART` is Cairo's time or Argentina's, `BST` that of
 * Dhaka or of London's summer, `PST` and `CET` keep summer time or do not).
 */
export function isTimezone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false
  if (/^[A-Za-z]{3}$/.test(text) && !abbreviations.includes(text)) return false
  try {
    // biome-ignore lint/plugin/formatter: it asks whether there is such a time zone, and formats nothing
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    // Case is not looked at by Intl, which answers the name as it is spelt, or the zone it is an alias of.
    return timeZone === text || timeZone.toLowerCase() !== text.toLowerCase()
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Whoever counts the days must know the zone too: databases may be without old names (`US/Pacific`), JavaScript has them. */
export async function requireKnownZone<Tables>(db: Kysely<Tables>, timezone: string): Promise<void> {
  try {
    await db.selectNoFrom(sql`timezone(${timezone}, timestamptz 'epoch')`.as('local')).execute()
  } catch (error) {
    if (sqlState(error) !== '22023') throw error
    throw refuse('bad_request', `timezone: ${timezone} is not known here: use one such as America/Sao_Paulo`)
  }
}

/** Whether it is a BCP 47 tag such as `pt-BR`. */
export function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
