/** The forms in which people and programs write a phone number, for the tests of everything that takes one. */
import { type CountryCode, getExampleNumber, type PhoneNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'

/** An example mobile number of every country. */
export const examplePhones: PhoneNumber[] = (Object.keys(examples) as CountryCode[]).map(
  (country) => getExampleNumber(country, examples)!,
)

type Forms = Record<string, (phone: PhoneNumber) => string>

const toDigits = (text: string): string => text.replace(/\D/g, '')
const writeWith = (zero: number) => (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
const international = (phone: PhoneNumber) => phone.formatInternational()
const digitsOf = (phone: PhoneNumber) => toDigits(phone.number)

/** Forms that name the country, and identify one person in a store of any country. */
export const internationalForms: Forms = {
  'E.164': (phone) => phone.number,
  international,
  dots: (phone) => international(phone).replaceAll(' ', '.'),
  dashes: (phone) => international(phone).replaceAll(' ', '-'),
  slashes: (phone) => international(phone).replace(' ', '/'),
  parentheses: (phone) => international(phone).replace(/ (\d+)/, ' ($1)'),
  'country in parentheses': (phone) => international(phone).replace(/^\+(\d+)/, '(+$1)'),
  'two zeros': (phone) => `00${digitsOf(phone)}`,
  'two zeros with blanks': (phone) => `00 ${international(phone).slice(1)}`,
  'plus and two zeros': (phone) => `+00${digitsOf(phone)}`,
  'two pluses': (phone) => `+${phone.number}`,
  'tel:': (phone) => `tel:${phone.number}`,
  'tel: of RFC 3966': (phone) => phone.getURI(),
  'TEL:': (phone) => `TEL: ${international(phone)}`,
  'whatsapp:': (phone) => `whatsapp:${phone.number}`,
  'sms:': (phone) => `sms:${phone.number}`,
  'p:': (phone) => `p:${phone.number}`,
  '@c.us': (phone) => `${digitsOf(phone)}@c.us`,
  '@s.whatsapp.net': (phone) => `${digitsOf(phone)}@s.whatsapp.net`,
  'device of @s.whatsapp.net': (phone) => `${digitsOf(phone)}:12@s.whatsapp.net`,
  'wa.me': (phone) => `https://wa.me/${digitsOf(phone)}`,
  'wa.me with text': (phone) => `wa.me/${digitsOf(phone)}?text=Hi%20there`,
  'wa.me with plus': (phone) => `http://wa.me/${phone.number}/`,
  'api.whatsapp.com': (phone) => `https://api.whatsapp.com/send?phone=${digitsOf(phone)}&text=Hi`,
  'api.whatsapp.com, text first': (phone) =>
    `https://api.whatsapp.com/send/?text=Hi&phone=%2B${digitsOf(phone)}`,
  'whatsapp://': (phone) => `whatsapp://send?phone=${phone.number}`,
  apostrophe: (phone) => `'${phone.number}`,
  'curly apostrophe': (phone) => `\u2019${international(phone)}`,
  'opening apostrophe': (phone) => `\u2018${phone.number}`,
  'full-width apostrophe': (phone) => `\uff07${phone.number}`,
  'acute accent': (phone) => `\u00b4${phone.number}`,
  grave: (phone) => `\`${phone.number}`,
  quotes: (phone) => `"${phone.number}"`,
  'curly quotes': (phone) => `\u201c${phone.number}\u201d`,
  "a spreadsheet's text formula": (phone) => `="${phone.number}"`,
  "a spreadsheet's formula": (phone) => `=${phone.number}`,
  'apostrophe and whatsapp:': (phone) => `'whatsapp:${phone.number}`,
  brackets: (phone) => international(phone).replace(/^(\+\d+)/, '[$1]'),
  'middle dots': (phone) => international(phone).replaceAll(' ', ' · '),
  'a word': (phone) => `Tel.: ${international(phone)}`,
  'WhatsApp as a word': (phone) => `WhatsApp ${international(phone)}`,
  'a picture': (phone) => `\u{1f4de}\ufe0f ${international(phone)}`,
  'decimal zero': (phone) => `${phone.number}.0`,
  'decimal comma': (phone) => `${phone.number},00`,
  'non-breaking blanks': (phone) => international(phone).replaceAll(' ', '\u00a0'),
  'narrow blanks': (phone) => international(phone).replaceAll(' ', '\u202f'),
  'full-width': (phone) => writeWith(0xff10)(international(phone)).replace('+', '\uff0b'),
  'Arabic-Indic': (phone) => writeWith(0x660)(international(phone)),
  Persian: (phone) => writeWith(0x6f0)(phone.number),
  Devanagari: (phone) => writeWith(0x966)(phone.number),
  'direction marks': (phone) => `\u202a${international(phone)}\u202c`,
  'isolates and apostrophe': (phone) => `\u2068'${phone.number}\u2069`,
  'right-to-left marks': (phone) => `\u200f${phone.number}\u200f`,
  'byte order mark': (phone) => `\ufeff${phone.number}`,
  'blanks around': (phone) => `\t ${phone.number}\u00a0\n`,
  'separator after': (phone) => `${phone.number};`,
}

/** Forms without a prefix, for a store of the number's own country. */
export const nationalForms: Forms = {
  national: (phone) => phone.formatNational(),
  'national digits': (phone) => toDigits(phone.formatNational()),
  'national dots': (phone) => phone.formatNational().replace(/[ -]/g, '.'),
  'national dashes': (phone) => phone.formatNational().replaceAll(' ', '-'),
  'national parentheses': (phone) => phone.formatNational().replace(/^(\d+) /, '($1) '),
  'without trunk prefix': (phone) => phone.nationalNumber,
  'without trunk prefix, decimal zero': (phone) => `${phone.nationalNumber}.0`,
  'national decimal zero': (phone) => `${toDigits(phone.formatNational())}.0`,
  'national apostrophe': (phone) => `'${phone.formatNational()}`,
  'national text formula': (phone) => `="${toDigits(phone.formatNational())}"`,
  'national tel:': (phone) => `tel:${phone.formatNational()}`,
  'national full-width': (phone) => writeWith(0xff10)(phone.formatNational()),
  'national Arabic-Indic': (phone) => writeWith(0x660)(phone.formatNational()),
  'national non-breaking blanks': (phone) => phone.formatNational().replaceAll(' ', '\u00a0'),
  'national direction marks': (phone) => `\u202a${phone.formatNational()}\u202c`,
}

/**
 * International forms without the plus, as WhatsApp and spreadsheets write them. In some countries a few of them are
 * national numbers.
 */
export const unprefixedForms: Forms = {
  'without plus': digitsOf,
  'without plus, blanks': (phone) => international(phone).slice(1),
  'without plus, apostrophe': (phone) => `'${digitsOf(phone)}`,
  'without plus, decimal zero': (phone) => `${digitsOf(phone)}.0`,
  'without plus, whatsapp:': (phone) => `whatsapp:${digitsOf(phone)}`,
  'without plus, text formula': (phone) => `="${digitsOf(phone)}"`,
  'without plus, full-width': (phone) => writeWith(0xff10)(digitsOf(phone)),
}

/** International forms with the trunk zero, for numbers whose national form begins with one. */
export const trunkForms: Forms = {
  '(0) after the prefix': (phone) => `+${phone.countryCallingCode} (0)${phone.nationalNumber}`,
  '(0) without blank': (phone) => `+${phone.countryCallingCode}(0)${phone.nationalNumber}`,
  'zero after the prefix': (phone) => `+${phone.countryCallingCode} 0${phone.nationalNumber}`,
  'two zeros and (0)': (phone) => `00${phone.countryCallingCode} (0)${phone.nationalNumber}`,
  'two zeros and zero': (phone) => `00${phone.countryCallingCode}0${phone.nationalNumber}`,
  'without plus, (0)': (phone) => `${phone.countryCallingCode} (0)${phone.nationalNumber}`,
  'without plus, zero': (phone) => `${phone.countryCallingCode}0${phone.nationalNumber}`,
}

/** Numbers that a spreadsheet shortened. */
export const shortenedForms: Forms = {
  exponent: (phone) => `${Number(digitsOf(phone)).toExponential(5).replace('e', 'E')}`,
  'exponent of two digits': (phone) => Number(digitsOf(phone)).toExponential(5).replace('e+', 'E+0'),
  'decimal comma': (phone) => Number(digitsOf(phone)).toExponential(2).replace('.', ',').replace('e', 'E'),
  'whole digits': (phone) => Number(digitsOf(phone)).toExponential(10),
  'apostrophe and exponent': (phone) => `'${Number(digitsOf(phone)).toExponential(5)}`,
}
