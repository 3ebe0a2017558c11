/** However an address is typed or copied, it identifies one person. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { email } from '#runtime/schema'
import { cleanEmail, emailKey, isSameEmail } from '#runtime/values/email'
import { runs } from '#test/support/suite'

const marks = ['', '\u200b', '\u200e', '\u202a', '\u2060', '\ufeff', '\u00ad']
const localPart = fc
  .stringMatching(/^[a-z0-9][a-z0-9._+-]{0,8}[a-z0-9]$/)
  .filter((text) => !text.includes('..'))
const address = fc
  .tuple(localPart, fc.constantFrom('example.com', 'loja.com.br'))
  .map((parts) => parts.join('@'))

test('an address has one key, whatever its case and the characters copied with it', () => {
  fc.assert(
    fc.property(
      address,
      fc.constantFrom(...marks),
      fc.nat(20),
      fc.constantFrom('', ' ', '\u00a0', '\t', '\u3000'),
      fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
      fc.boolean(),
      (plain, mark, at, blank, upper, isWide) => {
        const signs = [...plain].map((sign, place) => (upper[place % 30] ? sign.toUpperCase() : sign))
        signs.splice(at, 0, mark)
        const typed = `${blank}${signs.join('')}${blank}`.replace('@', isWide ? '\uff20' : '@')
        expect(emailKey(typed)).toBe(plain)
        expect(emailKey(emailKey(typed))).toBe(plain)
        expect(email.parse(typed).toLowerCase()).toBe(plain)
        expect(isSameEmail(typed, plain)).toBe(true)
      },
    ),
    runs(1000),
  )
})

test('different addresses have different keys', () => {
  fc.assert(
    fc.property(address, address, (one, other) => {
      expect(isSameEmail(one, other)).toBe(one === other)
    }),
  )
})

test('a missing address equals nothing, and a non-ASCII one is stored in the form that databases compare', () => {
  expect(isSameEmail(null, null)).toBe(false)
  expect(isSameEmail('a@example.com', null)).toBe(false)
  expect(cleanEmail('JOÃO@Example.com')).toBe('joão@example.com')
  expect(cleanEmail('Ana@Example.com')).toBe('Ana@Example.com')
})
