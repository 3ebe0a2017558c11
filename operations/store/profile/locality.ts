/** Validates names of time zones and languages. */
import { type Kysely, sql } from 'kysely'
import { refuse, sqlState } from '#runtime/errors'

/** The three-letter names that mean the same time zone everywhere. */
const abbreviations: readonly string[] = ['EST', 'GMT', 'HST', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC']

/**
 * Whether the text is an IANA name in its exact spelling, such as `America/Sao_Paulo`. Rejects names that JavaScript and
 * PostgreSQL read differently: offsets such as `+03:00`, and abbreviations (`ART` is Cairo or Argentina, `BST` is Dhaka or
 * London in summer, `PST` and `CET` are with or without daylight saving).
 */
export function isTimezone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false
  if (/^[A-Za-z]{3}$/.test(text) && !abbreviations.includes(text)) return false
  try {
    // biome-ignore lint/plugin/formatter: only checks that the time zone exists, formats nothing
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    // Intl accepts any case. It returns the canonical spelling, or for an alias the name of the other zone.
    return timeZone === text || timeZone.toLowerCase() !== text.toLowerCase()
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Refuses a zone that PostgreSQL does not know. It may lack old names such as `US/Pacific`, which JavaScript knows. */
export async function requireKnownZone<Tables>(db: Kysely<Tables>, timezone: string): Promise<void> {
  try {
    await db.selectNoFrom(sql`timezone(${timezone}, timestamptz 'epoch')`.as('local')).execute()
  } catch (error) {
    if (sqlState(error) !== '22023') throw error
    throw refuse('bad_request', `timezone: ${timezone} is not known here: use one such as America/Sao_Paulo`)
  }
}

/** Whether the text is a BCP 47 tag such as `pt-BR`. */
export function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
