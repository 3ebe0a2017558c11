/** Phones have a stored form and a comparison form. */
import { expect, test } from 'vitest'
import { parsePhone, phoneKey } from '#runtime/values/phone'

test.each([
  ['(11) 98888-7777', 'BR', '+5511988887777'],
  ['5511988887777', 'BR', '+5511988887777'],
  ['+1 312 555 0186', 'BR', '+13125550186'],
  ['11 8888-7777', 'BR', '+551188887777'],
  ['call me', 'BR', null],
  ['+55', 'BR', null],
])('%s, typed in %s, is %s', (text, country, phone) => {
  expect(parsePhone(text, country)).toBe(phone)
})

test.each([
  ['+551188887777', '+5511988887777'],
  ['+5511988887777', '+5511988887777'],
  ['+551138887777', '+551138887777'],
  ['+5215512345678', '+525512345678'],
  ['+525512345678', '+525512345678'],
  ['+5491123456789', '+541123456789'],
  ['+13125550186', '+13125550186'],
])('%s is compared as %s', (phone, key) => {
  expect(phoneKey(phone)).toBe(key)
})
