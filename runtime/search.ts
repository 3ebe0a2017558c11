/** Text looked for anywhere in a column, in the one form that a trigram index helps with. */

/** The pattern for `like`: what the text has of its own wildcards stands for itself. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** The pattern for the digits of a phone, or null where the text is no part of one. */
export function phoneContaining(text: string): string | null {
  const digits = /^[+\d\s().-]+$/.test(text) ? text.replace(/\D/g, '') : ''
  return digits ? containing(digits) : null
}
