/** Names of time zones and languages. */

/**
 * Whether it is an IANA name (`America/Sao_Paulo`, in its own spelling). Offsets such as `+03:00`, which mean one
 * thing to JavaScript and the opposite to PostgreSQL, are none.
 */
export function isTimezone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false
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
