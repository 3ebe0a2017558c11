/** Phone numbers: one form to keep, one to compare. */
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'

/**
 * E.164 (`+5511999998888`) of what a person typed, spaces, dashes and national forms included; null when it cannot be
 * a phone number. `country` (ISO 3166-1) is where a number without a prefix is from.
 */
export function parsePhone(text: string, country: string): string | null {
  const trimmed = text.trim()
  if (trimmed.length === 0 || trimmed.length > 40 || !/^[+\d\s().\-/]+$/.test(trimmed)) return null
  const parsed = parsePhoneNumberFromString(trimmed, country as CountryCode)
  if (parsed?.isValid()) return parsed.number
  // `5511999998888`: the country's prefix without its plus.
  const international = parsePhoneNumberFromString(`+${trimmed.replace(/\D/g, '')}`)
  if (!trimmed.startsWith('+') && international?.isValid()) return international.number
  // A Brazilian mobile written without its ninth digit is one all the same.
  const national = parsed ?? international
  if (national && /^\+55\d{2}[6-9]\d{7}$/.test(national.number)) return national.number
  return null
}

/**
 * The form that phones are compared in: a Brazilian mobile with its ninth digit, a Mexican one without the 1 after
 * +52, an Argentine one without the 9 after +54. Takes E.164.
 */
export function phoneKey(phone: string): string {
  if (phone.startsWith('+55'))
    return phone.replace(/^\+55(?<area>\d{2})(?<rest>[6-9]\d{7})$/, '+55$<area>9$<rest>')
  if (phone.startsWith('+52')) return phone.replace(/^\+521(\d{10})$/, '+52$1')
  if (phone.startsWith('+54')) return phone.replace(/^\+549(\d{10})$/, '+54$1')
  return phone
}
