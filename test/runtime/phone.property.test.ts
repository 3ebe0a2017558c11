/** However a number is typed or copied, it identifies one person, and no other. */
import fc from 'fast-check'
import { type CountryCode, getExampleNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, test } from 'vitest'
import { toPhonePatterns } from '#runtime/database/search'
import { toPlainCharacters } from '#runtime/values/confusables'
import { isSamePhone, parsePhone, phoneKey } from '#runtime/values/phone'
import { runs } from '#test/support/suite'

const often = runs(400)
const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((all) => all.join(''))

/** Domestic numbers by country: valid ones. */
const brazilian = fc
  .tuple(
    fc.constantFrom('11', '21', '31', '45', '47', '61', '71', '85', '91'),
    fc.constantFrom('6', '7', '8', '9'),
    digits(7),
  )
  .map(([area, first, rest]) => ({ country: 'BR', prefix: '55', area, number: `9${first}${rest}` }))
const mexican = fc
  .tuple(fc.constantFrom('55', '33', '81'), fc.constantFrom('1', '2', '3', '8'), digits(7))
  .map(([area, first, rest]) => ({ country: 'MX', prefix: '52', area, number: `${first}${rest}` }))
const argentine = fc
  .tuple(fc.constantFrom('3', '4', '5', '6'), digits(7))
  .map(([first, rest]) => ({ country: 'AR', prefix: '54', area: '11', number: `${first}${rest}` }))
const somebody = fc
  .oneof(brazilian, mexican, argentine)
  .filter(
    ({ prefix, area, number, country }) =>
      parsePhone(`+${prefix}${country === 'AR' ? '9' : ''}${area}${number}`, 'US') !== null,
  )
type Somebody = typeof somebody extends fc.Arbitrary<infer T> ? T : never

/** Local spellings, each with digits only. */
const spellings: Record<string, (who: Somebody) => string[]> = {
  BR: ({ area, number }) => [
    `+55 ${area} ${number}`,
    `55${area}${number}`,
    `0055${area}${number}`,
    `${area} ${number}`,
    `0${area} ${number}`,
    `0xx${area} ${number}`,
    `(0xx${area}) ${number}`,
    `015 ${area} ${number}`,
    `+55 (0)${area} ${number}`,
    `+55 0${area} ${number}`,
    `${area} ${number.slice(1)}`,
    `+55 ${area} ${number.slice(1)}`,
    `55${area}${number.slice(1)}`,
  ],
  MX: ({ area, number }) => [
    `+52 ${area} ${number}`,
    `+52 1 ${area} ${number}`,
    `+52 (1) ${area} ${number}`,
    `521${area}${number}`,
    `00521${area}${number}`,
    `${area} ${number}`,
    `01 ${area} ${number}`,
    `044 ${area} ${number}`,
    `045 ${area} ${number}`,
    `+52 044 ${area} ${number}`,
    `+52 01 ${area} ${number}`,
  ],
  AR: ({ area, number }) => [
    `+54 9 ${area} ${number}`,
    `+54 ${area} 15 ${number}`,
    `+54 9 ${area} 15 ${number}`,
    `549${area}${number}`,
    `0${area} 15 ${number}`,
    `${area} 15 ${number}`,
    `+54 0 ${area} 15 ${number}`,
  ],
}
const toKey = ({ country, prefix, area, number }: Somebody): string =>
  phoneKey(`+${prefix}${country === 'AR' ? '9' : ''}${area}${number}`)

const marks = ['\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u202a', '\u202c', '\u202d', '\u202e']
const otherMarks = ['\u2060', '\u2061', '\u2066', '\u2069', '\ufeff', '\u00ad', '\u180e', '\ufe0f']
const blanks = [' ', '\u00a0', '\u2007', '\u2009', '\u200a', '\u202f', '\u3000', '.', '-']
const hyphens = [
  '\u2010',
  '\u2011',
  '\u2012',
  '\u2013',
  '\u2014',
  '\u2015',
  '\u2212',
  '\ufe58',
  '\ufe63',
  '\uff0d',
]
const scripts = [0x30, 0xff10, 0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50, 0x1d7ce, 0x1d7d8]

/** Other characters for the same digits. */
const decoration = fc
  .record({
    zero: fc.constantFrom(...scripts),
    plus: fc.constantFrom('+', '\uff0b', '\ufe62'),
    blank: fc.constantFrom(...blanks, ...hyphens),
    mark: fc.constantFrom('', ...marks, ...otherMarks),
    at: fc.array(fc.nat(20), { maxLength: 4 }),
    scheme: fc.constantFrom('', '', 'tel:', 'TEL:'),
    around: fc.constantFrom('', ' ', '\u202a', '\u00a0', '\t'),
  })
  .map(({ zero, plus, blank, mark, at, scheme, around }) => (text: string): string => {
    const signs = [...text].map((sign) =>
      /\d/.test(sign)
        ? String.fromCodePoint(zero + Number(sign))
        : sign === '+'
          ? plus
          : sign === ' '
            ? blank
            : sign,
    )
    for (const place of at) signs.splice(place, 0, mark)
    return `${around}${scheme}${signs.join('')}${around}`
  })

describe('one person', () => {
  test('has one key, however the number is spelled and copied', () => {
    fc.assert(
      fc.property(somebody, fc.nat(), decoration, (who, way, decorate) => {
        const all = spellings[who.country]!(who)
        const typed = decorate(all[way % all.length]!)
        const phone = parsePhone(typed, who.country)
        expect(phone && phoneKey(phone), JSON.stringify(typed)).toBe(toKey(who))
      }),
      often,
    )
  })

  test('a parsed number is parsed unchanged, in any country', () => {
    fc.assert(
      fc.property(somebody, fc.nat(), fc.constantFrom('BR', 'MX', 'AR', 'US', 'PT'), (who, way, country) => {
        const all = spellings[who.country]!(who)
        const phone = parsePhone(all[way % all.length]!, who.country)!
        expect(parsePhone(phone, country)).toBe(phone)
        expect(phoneKey(phoneKey(phone))).toBe(phoneKey(phone))
        expect(phoneKey(parsePhone(phoneKey(phone), country)!)).toBe(phoneKey(phone))
      }),
      often,
    )
  })

  test('different people have different keys', () => {
    fc.assert(
      fc.property(somebody, somebody, (one, other) => {
        const isOne = one.prefix === other.prefix && one.area === other.area && one.number === other.number
        expect(toKey(one) === toKey(other)).toBe(isOne)
        expect(isSamePhone(toKey(one), toKey(other))).toBe(isOne)
      }),
      often,
    )
  })
})

test("every country's number is parsed in its national and international form", () => {
  for (const country of Object.keys(examples) as CountryCode[]) {
    const example = getExampleNumber(country, examples)!
    const { number } = example
    for (const typed of [number, example.formatInternational(), example.formatNational()]) {
      const read = parsePhone(typed, country)
      expect(read && phoneKey(read), `${country} ${typed}`).toBe(phoneKey(number))
    }
  }
})

test('a domestic number is not taken for a foreign one with the same beginning', () => {
  // Denmark's +45 and eight digits.
  expect(parsePhone('(45) 8765-4321', 'BR')).toBe('+554587654321')
  expect(parsePhone('+45 87 65 43 21', 'BR')).toBe('+4587654321')
})

test.each(['\u2007', '\ufeff', '\t', '\u3000', '\u2002'])('a blank of any kind (%j) is accepted', (blank) => {
  // Numbers outside the country's numbering plan are accepted as well.
  expect(parsePhone(`11${blank}60000000`, 'BR')).toBe('+551160000000')
  expect(parsePhone(`55${blank}10000000`, 'MX')).toBe('+525510000000')
})

test.each(['', '+', 'call me', '11 98765-4321 ext 5', `${'9'.repeat(41)}`, '\u200b'.repeat(300), '½'])(
  '%j is nobody',
  (typed) => {
    expect(parsePhone(typed, 'BR')).toBeNull()
  },
)

test('digits of every script have their value', () => {
  for (const zero of scripts) {
    const all = Array.from({ length: 10 }, (_, value) => String.fromCodePoint(zero + value)).join('')
    expect(toPlainCharacters(all)).toBe('0123456789')
  }
})

test('the beginning of a number is found, in each spelling and stored form', () => {
  const missed = new Set<string>()
  fc.assert(
    fc.property(somebody, (who) => {
      const ways = spellings[who.country]!(who)
      const kept = [...new Set(ways.map((way) => parsePhone(way, who.country)!.slice(1)))]
      for (const way of ways) {
        // All but its last two digits: an almost complete search.
        const typed = way.slice(0, -2)
        const found = toPhonePatterns(typed, who.country)!.map((each) => each.slice(1, -1))
        for (const one of kept) {
          if (!found.some((part) => one.includes(part)))
            missed.add(`${who.country} ${ways.indexOf(way)}: ${typed} in ${one}`)
        }
      }
    }),
    runs(30),
  )
  expect([...missed]).toEqual([])
})
