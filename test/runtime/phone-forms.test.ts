/** Each country's mobile number, in the forms that people and programs write. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { describe, expect, test } from 'vitest'
import { toPhonePatterns } from '#runtime/database/search'
import { explainPhone, parsePhone, phoneKey } from '#runtime/values/phone'
import {
  examplePhones,
  internationalForms,
  nationalForms,
  shortenedForms,
  trunkForms,
  unprefixedForms,
} from '#test/support/phones'
import { isFullSuite } from '#test/support/suite'

const stores = ['BR', 'DE', 'US', 'MX', 'IT'] as const

/** The key of the phone that a text is parsed to. */
const readKey = (text: string, country: string): string | null => {
  const phone = parsePhone(text, country)
  return phone && phoneKey(phone)
}

describe('a phone of every country', () => {
  test.each(Object.entries(internationalForms))('with its prefix, %s', (_, write) => {
    const wrong = examplePhones.flatMap((phone) =>
      stores
        .map((store) => [store, write(phone), readKey(write(phone), store), phoneKey(phone.number)])
        .filter(([, , found, right]) => found !== right),
    )
    expect(wrong).toEqual([])
  })

  test.each(Object.entries(nationalForms))('in its own country, %s', (_, write) => {
    const wrong = examplePhones
      .map((phone) => [
        phone.country,
        write(phone),
        readKey(write(phone), phone.country!),
        phoneKey(phone.number),
      ])
      .filter(([, , found, right]) => found !== right)
    expect(wrong).toEqual([])
  })

  test.each(Object.entries(unprefixedForms))('in its own country, %s', (_, write) => {
    const wrong = examplePhones
      .map((phone) => [
        phone.country,
        write(phone),
        readKey(write(phone), phone.country!),
        phoneKey(phone.number),
      ])
      .filter(([, , found, right]) => found !== right)
    expect(wrong).toEqual([])
  })

  test.each(Object.entries(trunkForms))('in its own country, %s', (_, write) => {
    const wrong = examplePhones
      .filter((phone) => phone.formatNational().replace(/\D/g, '') === `0${phone.nationalNumber}`)
      .map((phone) => [
        phone.country,
        write(phone),
        readKey(write(phone), phone.country!),
        phoneKey(phone.number),
      ])
      .filter(([, , found, right]) => found !== right)
    expect(wrong).toEqual([])
  })

  test.each(Object.entries(shortenedForms))('shortened by a spreadsheet, %s', (_, write) => {
    for (const phone of examplePhones) {
      const text = write(phone)
      expect([text, parsePhone(text, phone.country!)]).toEqual([text, null])
      expect(explainPhone(text)).toMatch(
        /^was turned into a number by the spreadsheet .*; format the column as text$/,
      )
    }
  })

  test('without its plus in a foreign store is international, unless its national reading is likelier', () => {
    const kept = (isFullSuite ? examplePhones.map(({ country }) => country!) : stores).flatMap((store) =>
      examplePhones.flatMap(({ number }) => {
        const digits = number.slice(1)
        return readKey(digits, store) === phoneKey(number) ? [] : [{ store, number, digits }]
      }),
    )
    for (const { store, number, digits } of kept) {
      const phone = parsePhone(digits, store)!
      const national = parsePhoneNumberFromString(phone)!
      const isMobile = /MOBILE/.test(national.getType() ?? '') || phoneKey(phone) !== phone
      const isShort = digits.length < 10 || parsePhoneNumberFromString(number)!.getType() !== 'MOBILE'
      const hasTrunkPrefix = national.nationalNumber.length < digits.length
      expect([store, digits, isMobile || isShort || hasTrunkPrefix]).toEqual([store, digits, true])
    }
    // There are 60,025 pairs of a store's country and a phone; 523 of those kept are mobiles of the store's country.
    expect(kept.length).toBe(isFullSuite ? 590 : 55)
  })
})

test.each([
  ['4915123456789', 'DE', '+4915123456789'],
  ['49 151 23456789', 'DE', '+4915123456789'],
  ['5511988887777', 'DE', '+5511988887777'],
  ['4155552671.0', 'US', '+14155552671'],
  ['14155552671.0', 'CH', '+14155552671'],
  ["'+14155552671", 'DE', '+14155552671'],
  // Landlines as their country writes them, which are mobiles elsewhere.
  ['(45) 3222-1234', 'BR', '+554532221234'],
  ['4532221234', 'BR', '+554532221234'],
  ['(47) 4061-2345', 'BR', '+554740612345'],
  ['47 4061-2345', 'BR', '+554740612345'],
  ['8 (495) 123-45-67', 'RU', '+74951234567'],
  ['84951234567', 'RU', '+74951234567'],
  ['27812345', 'UY', '+59827812345'],
  // An area code in parentheses is one, a country's prefix another.
  ['(55) 11 98888-7777', 'BR', '+5511988887777'],
  ['(11) 98888-7777', 'BR', '+5511988887777'],
  // Not phones.
  ['123.456.789-09', 'BR', null],
  ['491512345678@lid', 'DE', null],
  ['120363021234567890@g.us', 'DE', null],
  ['https://wa.me/message/ABC123', 'DE', null],
  ['+1 (415) 555-2671 ext. 5', 'US', null],
])('%s in a store of %s is %s', (text, country, phone) => {
  expect(parsePhone(text, country)).toBe(phone)
})

test('a search in any form finds the stored number', () => {
  const forms = Object.entries({ ...internationalForms, ...unprefixedForms, ...nationalForms })
  for (const phone of examplePhones)
    for (const [form, write] of forms) {
      const found = toPhonePatterns(write(phone), phone.country!)?.map((each) => each.slice(1, -1))
      const stored = parsePhone(phone.number, phone.country!)!
      expect([phone.country, form, found?.some((part) => stored.includes(part))]).toEqual([
        phone.country,
        form,
        true,
      ])
    }
})
