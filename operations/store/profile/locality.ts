/** Names of time zones and languages. */
import { type Kysely, sql } from 'kysely'
import { refuse, sqlState } from '#runtime/errors'

/** Three-letter names that mean the same zone everywhere. */
const abbreviations: readonly string[] = ['EST', 'GMT', 'HST', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC']

/**
 * Whether it is an IANA name in its exact spelling (`America/Sao_Paulo`). Rejects names that JavaScript and PostgreSQL
 * read differently: offsets such as `+03:00`, and abbreviations (`ART` is Cairo or Argentina, `BST` Dhaka or London in
 * summer, `PST` and `CET` with or without daylight saving).
 */
export function isTimezone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false
  if (/^[A-Za-z]{3}$/.test(text) && !abbreviations.includes(text)) return false
  try {
    // biome-ignore lint/plugin/formatter: only checks that the time zone exists, formats nothing
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    // Intl ignores case, and returns the canonical spelling or the zone of which this name is an alias.
    return timeZone === text || timeZone.toLowerCase() !== text.toLowerCase()
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Checks that PostgreSQL knows the zone too: it may lack old names such as `US/Pacific`, which JavaScript has. */
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
