/** Phone numbers: one form to keep, one to compare. */
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { inPlainSigns } from './signs.ts'

const typedAtMost = 200
const signsAtMost = 40

/**
 * E.164 (`+5511999998888`) of what a person typed or copied, national forms, trunk prefixes and invisible marks
 * included; null when it cannot be a phone number. `country` (ISO 3166-1) is where a number without a prefix is from.
 */
export function parsePhone(text: string, country: string): string | null {
  const typed = phoneSigns(text)
  if (typed === null) return null
  const digits = typed.replace(/\D/g, '')
  const own = parsePhoneNumberFromString(typed, country as CountryCode)
  if (own?.isValid()) return own.number
  if (hasPlus.test(typed)) {
    // `+52 (0)55 …`: the zero that is dialled within the country alone.
    const withoutTrunk = typed.replace(/\(\s*0\s*\)/, '')
    return international(`+${withoutTrunk.replace(/\D/g, '')}`) ?? international(`+${digits}`)
  }
  return (
    nationally(digits, country, own?.number) ??
    // `5511999998888`: the country's prefix without its plus. `0055…`: with the zeros that most countries dial for it.
    international(`+${digits}`) ??
    (digits.startsWith('00') ? international(`+${digits.slice(2)}`) : null)
  )
}

const hasPlus = /^[\s(]*\+/

/**
 * What was typed in the signs of a number: digits of any script, hyphens and spaces of any kind, no invisible marks,
 * no `tel:`, no `xx` in the place of a carrier. Null where something else is in it.
 */
export function phoneSigns(text: string): string | null {
  if (text.length > typedAtMost) return null
  const plain = (isPlain.test(text) ? text : inPlainSigns(text))
    .trim()
    .replace(/^tel:(?:\/\/)?/i, '')
    .replace(/^(?<before>[+\d\s().-]*?0)[\s-]?x{2}[\s-]?/i, '$<before>')
    .trim()
  return plain.length > 0 && plain.length <= signsAtMost && isPlain.test(plain) ? plain : null
}

/** Whether it can be a part of a number. */
export const hasPhoneDigits = (text: string): boolean => /\d/.test(phoneSigns(text) ?? '')

/** Signs that need no change: the ASCII blank alone, as the library stumbles over some of the others. */
const isPlain = /^[+\d ().\-/]+$/

/** What the library takes for no number as it was typed within its country, though people there write it so. */
function nationally(digits: string, country: string, read: string | undefined): string | null {
  // Mexico dialled 01, 044 and 045 until 2019; they stand in address books still.
  const mexican = country === 'MX' ? /^(?:01|044|045)(?<number>\d{10})$/.exec(digits)?.groups?.number : null
  if (mexican) return international(`+52${mexican}`)
  const argentine = country === 'AR' ? /^0?9?(?<number>\d{12})$/.exec(digits)?.groups?.number : null
  if (argentine) return international(`+54${argentine}`)
  return read && !read.startsWith('+52') ? mended(read) : null
}

/** A number with its country's prefix. */
function international(number: string): string | null {
  const parsed = parsePhoneNumberFromString(number)
  if (parsed?.isValid()) return parsed.number
  return mended(number)
}

/** Forms of valid numbers that plans of numbering have left behind, or that only the country's own phones dial. */
function mended(number: string): string | null {
  // A Brazilian mobile written without its ninth digit is one all the same.
  if (/^\+55\d{2}[6-9]\d{7}$/.test(number)) return number
  const mexican = /^\+520?(?:1|44|45)?(?<number>\d{10})$/.exec(number)?.groups?.number
  return [...(mexican ? [`+52${mexican}`] : []), ...withoutFifteen(number)].find(isValid) ?? null
}

/** An Argentine mobile with both the 9 of abroad and the 15 of home: `+54 9 11 15 1234-5678`. */
function withoutFifteen(number: string): string[] {
  const national = /^\+549?(?<national>\d{12})$/.exec(number)?.groups?.national
  if (national === undefined) return []
  return [2, 3, 4].flatMap((area) =>
    national.slice(area, area + 2) === '15'
      ? `+549${national.slice(0, area)}${national.slice(area + 2)}`
      : [],
  )
}

const isValid = (number: string): boolean => parsePhoneNumberFromString(number)?.isValid() === true

/**
 * The form that phones are compared in, and the only one: a Brazilian mobile with its ninth digit, a Mexican one
 * without the 1 after +52, an Argentine one without the 9 after +54. Takes E.164, and its own answers.
 */
export function phoneKey(phone: string): string {
  if (phone.startsWith('+55'))
    return phone.replace(/^\+55(?<area>\d{2})(?<rest>[6-9]\d{7})$/, '+55$<area>9$<rest>')
  if (phone.startsWith('+52')) return phone.replace(/^\+521(\d{10})$/, '+52$1')
  if (phone.startsWith('+54')) return phone.replace(/^\+549(\d{10})$/, '+54$1')
  return phone
}

/** The spellings in E.164 that have this form: itself first. */
export function phonesOf(key: string): string[] {
  const other = key
    .replace(/^\+55(?<area>\d{2})9(?<rest>[6-9]\d{7})$/, '+55$<area>$<rest>')
    .replace(/^\+52(?<rest>\d{10})$/, '+521$<rest>')
    .replace(/^\+54(?<rest>\d{10})$/, '+549$<rest>')
  return other === key ? [key] : [key, other]
}

/**
 * Digits that a part of a number may stand with in E.164 when it was written another way: with or without Brazil's
 * ninth digit, Mexico's 1 or Argentina's 9, or after a trunk prefix. The digits as they are come first.
 */
export function otherDigits(text: string, country: string): string[] {
  const digits = text.replace(/\D/g, '')
  if (digits === '') return []
  const found = [digits]
  const whole = parsePhone(text, country)
  if (whole !== null) found.push(whole.slice(1), phoneKey(whole).slice(1))
  const local = digits.replace(/^0+(?=.{4})/, '')
  if (local !== digits) found.push(local)
  for (const [form, to] of dialledAtHome[country] ?? []) {
    if (form.test(digits)) found.push(digits.replace(form, to))
  }
  return [...new Set([...found, ...found.flatMap(otherForms)])]
}

/** How the beginning of a number is written with what is dialled at home alone, by country; to what is kept of it. */
const dialledAtHome: Partial<Record<string, readonly [form: RegExp, to: string][]>> = {
  BR: [
    [/^550(?<rest>\d{4,})$/, '55$<rest>'],
    // With the carrier's two digits.
    [/^0\d{2}(?<rest>[1-9]{2}\d{7,})$/, '$<rest>'],
  ],
  MX: [[/^(?:52)?0(?:1|44|45)(?<rest>\d{4,})$/, '$<rest>']],
  AR: [
    [/^(?:54)?9?0?(?<area>11|[23]\d{2,3})15(?<rest>\d{2,8})$/, '$<area>$<rest>'],
    [/^0?15(?<rest>\d{6,8})$/, '$<rest>'],
  ],
}

/** Digits that go on after these, and those after which others follow. */
const rewritten: readonly [form: RegExp, to: string][] = [
  // Brazil: after the area, which may follow the country; a whole mobile alone.
  [/^(?<begin>(?:55)?[1-9]\d)(?<rest>[6-9]\d{3,7})$/, '$<begin>9$<rest>'],
  [/^(?<begin>(?:55)?[1-9]\d)9(?<rest>[6-9]\d{3,7})$/, '$<begin>$<rest>'],
  [/^9(?<rest>[6-9]\d{7})$/, '$<rest>'],
  [/^521(?<rest>\d{2,10})$/, '52$<rest>'],
  [/^52(?<rest>\d{2,10})$/, '521$<rest>'],
  [/^549(?<rest>\d{2,10})$/, '54$<rest>'],
  [/^54(?<rest>\d{2,10})$/, '549$<rest>'],
]
const otherForms = (digits: string): string[] =>
  rewritten.flatMap(([form, to]) => (form.test(digits) ? digits.replace(form, to) : []))

/** Takes E.164; who has none is nobody. */
export const isSamePhone = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && phoneKey(one) === phoneKey(other)
