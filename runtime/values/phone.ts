/** Phone numbers: the form in which they are stored, and the form in which they are compared. */
import { type CountryCode, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { refuse } from '#runtime/errors'
import { toPlainCharacters } from './confusables.ts'
import { trimEndWhile, trimStartWhile } from './trim.ts'

const typedAtMost = 200
const signsAtMost = 40

/**
 * Parses a typed or copied number to E.164 (`+5511999998888`), including national forms, trunk prefixes, invisible
 * marks, and what programs write around a number; null if it cannot be a phone number. `country` (ISO 3166-1): the
 * country of a number without a prefix.
 */
export function parsePhone(text: string, country: string): string | null {
  const typed = cleanPhone(text)
  if (typed === null) return null
  if (typed.startsWith('+')) return parsePrefixed(typed)
  const digits = typed.replace(/\D/g, '')
  // In `0055…` two zeros replace the plus.
  const prefixed = digits.startsWith('00') ? parsePrefixed(typed.replace(/^\D*00/, '+')) : null
  if (prefixed) return prefixed
  if (taxNumber.test(text.trim())) return null
  const own = parsePhoneNumberFromString(typed, country as CountryCode)
  if (own?.isValid()) return findAbroad(typed, digits, own) ?? own.number
  // `5511999998888` is an international number without its plus.
  return parseNational(digits, country, own?.number) ?? parseInternational(`+${digits}`)
}

/** A Brazilian tax number as people write it, whose digits may be a phone of the United States. */
const taxNumber = /^\d{3}\.\d{3}\.\d{3}-\d{2}$/

/** Returns the phone, or refuses the text with a 400 that names the field. */
export function requirePhone(text: string, country: string, field = 'phone'): string {
  const phone = parsePhone(text, country)
  if (!phone) throw refuse('bad_request', `${field}: ${explainPhone(text)}`)
  return phone
}

/** The sentence for a text that `parsePhone` does not accept. */
export const explainPhone = (text: string): string =>
  shortened.test(toPlainCharacters(text.slice(0, typedAtMost)))
    ? `was turned into a number by the spreadsheet (${text.trim().slice(0, signsAtMost)}); format the column as text`
    : 'is not a phone number'

/** A number in a spreadsheet's short form, which has lost digits: `5.51E+12`, `5,51E12`. */
const shortened = /^[\s='"]*[+-]?\d+(?:[.,]\d+)?e[+-]?\d+[\s'"]*$/i

/**
 * Converts a typed number to plain characters: ASCII digits, hyphens and spaces, beginning with the plus if there is
 * one, without invisible marks, the placeholder `xx` of a carrier, and what programs write around it. Null if the text
 * contains anything else.
 */
export function cleanPhone(text: string): string | null {
  if (text.length > typedAtMost) return null
  const plain = (isPlain.test(text) ? text : unwrap(toPlainCharacters(text)))
    .trim()
    // Spreadsheets write a number with its decimals.
    .replace(/^(?<digits>\+?\d{4,})[.,]0+$/, '$<digits>')
    .replace(/^[\s(]*\+[\s(+]*(?:00)?/, '+')
    .replace(/^(?<before>[+\d\s().-]*?0)[\s-]?x{2}[\s-]?/i, '$<before>')
    .trim()
  return plain.length > 0 && plain.length <= signsAtMost && isPlain.test(plain) ? plain : null
}

/** Removes what people and programs write around a number: quotes, apostrophes, words, links, suffixes. */
function unwrap(text: string): string {
  const bare = trimMarks(text).replace(otherBlanks, ' ')
  const international = addresses.map((form) => form.exec(bare)?.groups?.number).find(Boolean)
  return international ? `+${international}` : trimMarks(bare.replace(words, ''))
}

/**
 * Removes marks around a number: quotes and apostrophes of any kind, the `=` of a spreadsheet's formula, pictures, and
 * a separator at the end.
 */
const trimMarks = (text: string): string =>
  trimEndWhile(
    trimStartWhile(text, (sign) => sign === '=' || mark.test(sign)),
    (sign) => sign === ',' || sign === ';' || mark.test(sign),
  )
const mark = /[\s\p{Mn}\p{Extended_Pictographic}'"`\u02bc\u2018-\u201f\u2032\u2033]/u

/** Brackets and dots that people write between digits. */
const otherBlanks = /[[\]{}~\u00b7\u2022]/g

/** Chat ids and links, in which a number is always international and has no plus. Ids of groups have other hosts. */
const addresses = [
  /^\+?(?<number>\d+)(?::\d+)?@(?:c\.us|s\.[a-z]+\.net)$/i,
  /^(?:[a-z]+:\/\/)?[\w.]*?(?:wa\.me\/|\/?send\/?\?(?:[^#]*&)?phone=)(?:\+|%2b)?\s?(?<number>\d[\d ().-]*)(?:[/?&#].*)?$/i,
]

/** Words and schemes before a number: of people, of URLs, of programs (`p:` in lists of leads). */
const words =
  /^(?:p:|(?:tel|telefone?|tel[eé]fono|phone|fone|mobile?|cel|celular|whats[a-z]*|wa|sms|callto)\b[.:\s]*(?:\/\/)?)/i

/** Whether a text can be part of a phone number. */
export const hasPhoneDigits = (text: string): boolean => /\d/.test(cleanPhone(text) ?? '')

/** Characters that need no change. The ASCII space is the only blank, since the library fails on some others. */
const isPlain = /^[+\d ().\-/]+$/

/** Parses a number that begins with a plus. */
function parsePrefixed(typed: string): string | null {
  const digits = typed.replace(/\D/g, '')
  const own = parsePhoneNumberFromString(`+${digits}`)
  if (own?.isValid()) return own.number
  // `+52 (0)55 …`: the trunk zero is dialled only within the country.
  const withoutTrunk = typed.replace(/\(\s*0\s*\)/, '')
  return parseInternational(`+${withoutTrunk.replace(/\D/g, '')}`) ?? parseInternational(`+${digits}`)
}

const mayBeMobile = (number: PhoneNumber): boolean => /MOBILE/.test(number.getType() ?? '')

/**
 * The international number in the digits of a valid national one (`own`), if that is no mobile and the international
 * one is: countries with long landline numbers accept `4915123456789` as a landline. Null if the text is written as its
 * country writes it: with the trunk prefix, its area in parentheses, in its groups, or (of a number that may be a landline in both countries, or
 * is short) in its length.
 */
function findAbroad(typed: string, digits: string, own: PhoneNumber): string | null {
  if (mayBeMobile(own) || own.nationalNumber !== digits) return null
  const abroad = parsePhoneNumberFromString(`+${digits}`)
  if (!abroad?.isValid() || !mayBeMobile(abroad)) return null
  const groups = own.formatNational().match(/\d+/g)!
  const written = typed.match(/\d+/g)!
  const compared = typed.startsWith('(') ? 1 : undefined
  if (groups.length > 1 && groups.slice(0, compared).join() === written.slice(0, compared).join()) return null
  const isUncertain = abroad.getType() !== 'MOBILE' || digits.length < 10
  return isUncertain && groups.join('') === digits ? null : abroad.number
}

/** Parses valid national spellings that the library does not accept. */
function parseNational(digits: string, country: string, read: string | undefined): string | null {
  // Mexico dialled 01, 044 and 045 until 2019; address books still have them.
  const mexican = country === 'MX' ? /^(?:01|044|045)(?<number>\d{10})$/.exec(digits)?.groups?.number : null
  if (mexican) return parseInternational(`+52${mexican}`)
  const argentine = country === 'AR' ? /^0?9?(?<number>\d{12})$/.exec(digits)?.groups?.number : null
  if (argentine) return parseInternational(`+54${argentine}`)
  return read && !read.startsWith('+52') ? repairNumber(read) : null
}

/** Parses a number with its country's prefix. */
function parseInternational(number: string): string | null {
  const parsed = parsePhoneNumberFromString(number)
  if (parsed?.isValid()) return parsed.number
  return repairNumber(number)
}

/** Repairs numbers in forms that numbering plans have abandoned, or that are only dialled within the country. */
function repairNumber(number: string): string | null {
  // A Brazilian mobile without its ninth digit is accepted.
  if (/^\+55\d{2}[6-9]\d{7}$/.test(number)) return number
  const mexican = /^\+520?(?:1|44|45)?(?<number>\d{10})$/.exec(number)?.groups?.number
  return [...(mexican ? [`+52${mexican}`] : []), ...dropFifteen(number)].find(isValid) ?? null
}

/**
 * Removes the domestic 15 from an Argentine mobile that also has the 9 for calls from abroad: `+54 9 11 15 1234-5678`.
 */
function dropFifteen(number: string): string[] {
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
 * Converts E.164 to the only form in which phones are compared: a Brazilian mobile with its ninth digit, a Mexican
 * number without the 1 after +52, an Argentine number without the 9 after +54. Idempotent.
 */
export function phoneKey(phone: string): string {
  if (phone.startsWith('+55'))
    return phone.replace(/^\+55(?<area>\d{2})(?<rest>[6-9]\d{7})$/, '+55$<area>9$<rest>')
  if (phone.startsWith('+52')) return phone.replace(/^\+521(\d{10})$/, '+52$1')
  if (phone.startsWith('+54')) return phone.replace(/^\+549(\d{10})$/, '+54$1')
  return phone
}

/** Lists the E.164 spellings that have this comparison form, beginning with the form itself. */
export function listPhoneSpellings(key: string): string[] {
  const other = key
    .replace(/^\+55(?<area>\d{2})9(?<rest>[6-9]\d{7})$/, '+55$<area>$<rest>')
    .replace(/^\+52(?<rest>\d{10})$/, '+521$<rest>')
    .replace(/^\+54(?<rest>\d{10})$/, '+549$<rest>')
  return other === key ? [key] : [key, other]
}

/**
 * Lists the digit sequences that a typed part of a number may have in E.164: with or without Brazil's ninth digit,
 * Mexico's 1 or Argentina's 9, and without a trunk prefix. The unchanged digits come first.
 */
export function listDigitForms(text: string, country: string): string[] {
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
  return [...new Set([...found, ...found.flatMap(rewriteDigits)])]
}

/** By country: patterns of numbers with domestic prefixes, and what replaces each in the stored form. */
const dialledAtHome: Partial<Record<string, readonly [form: RegExp, to: string][]>> = {
  BR: [
    [/^550(?<rest>\d{4,})$/, '55$<rest>'],
    // A trunk zero with the two digits of a carrier.
    [/^0\d{2}(?<rest>[1-9]{2}\d{7,})$/, '$<rest>'],
  ],
  MX: [[/^(?:52)?0(?:1|44|45)(?<rest>\d{4,})$/, '$<rest>']],
  AR: [
    [/^(?:54)?9?0?(?<area>11|[23]\d{2,3})15(?<rest>\d{2,8})$/, '$<area>$<rest>'],
    [/^0?15(?<rest>\d{6,8})$/, '$<rest>'],
  ],
}

/** Alternative forms of a beginning of a number, to which more digits may follow. */
const rewritten: readonly [form: RegExp, to: string][] = [
  // Brazil: the ninth digit follows the area code, with or without the country's prefix; or a whole mobile without
  // area.
  [/^(?<begin>(?:55)?[1-9]\d)(?<rest>[6-9]\d{3,7})$/, '$<begin>9$<rest>'],
  [/^(?<begin>(?:55)?[1-9]\d)9(?<rest>[6-9]\d{3,7})$/, '$<begin>$<rest>'],
  [/^9(?<rest>[6-9]\d{7})$/, '$<rest>'],
  [/^521(?<rest>\d{2,10})$/, '52$<rest>'],
  [/^52(?<rest>\d{2,10})$/, '521$<rest>'],
  [/^549(?<rest>\d{2,10})$/, '54$<rest>'],
  [/^54(?<rest>\d{2,10})$/, '549$<rest>'],
]
const rewriteDigits = (digits: string): string[] =>
  rewritten.flatMap(([form, to]) => (form.test(digits) ? digits.replace(form, to) : []))

/** Whether two numbers in E.164 are the same phone; null equals nothing. */
export const isSamePhone = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && phoneKey(one) === phoneKey(other)
