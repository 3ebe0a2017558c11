/** Names of time zones and languages. */

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
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    // Case is not looked at by Intl, which answers the name as it is spelt, or the zone it is an alias of.
    return timeZone === text || timeZone.toLowerCase() !== text.toLowerCase()
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
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
