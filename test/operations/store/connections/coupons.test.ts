/** What is promised of a coupon is what the platform's code gives. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { differenceOf, holds } from '#operations/store/connections/coupons'
import type { CouponTerms } from '#operations/store/ecommerce/port'

const ten: CouponTerms = {
  type: 'percentage',
  value: '10.00',
  minimumAmount: null,
  usageLimit: null,
  endsAt: null,
}

test('a code with the same terms, or more generous limits, keeps the promise', () => {
  expect(differenceOf(ten, ten)).toBeNull()
  expect(differenceOf(ten, { ...ten, value: '10' })).toBeNull()
  expect(differenceOf({ ...ten, minimumAmount: '50.00' }, ten)).toBeNull()
  expect(differenceOf({ ...ten, usageLimit: 1 }, ten)).toBeNull()
  const [end, whole] = ['2026-12-01T02:59:59.999Z', '2026-12-01T02:59:59.000Z']
  expect(differenceOf({ ...ten, endsAt: end }, { ...ten, endsAt: whole })).toBeNull()
})

test.each<[string, CouponTerms | null, RegExp]>([
  ['value', { ...ten, value: '5.00' }, /gives 5 %, not 10 %$/],
  ['type', { ...ten, type: 'amount' }, /gives 10\.00 off, not 10 %$/],
  ['free shipping', { ...ten, type: 'free-shipping', value: null }, /gives free shipping/],
  ['minimum', { ...ten, minimumAmount: '80.00' }, /needs an order of 80\.00 or more$/],
  ['uses', { ...ten, usageLimit: 100 }, /may be used 100 times in all$/],
  ['end', { ...ten, endsAt: '2026-12-01T00:00:00.000Z' }, /ends at 2026-12-01/],
  ['kind', null, /is another kind of discount$/],
])('one with another %s does not', (_name, terms, fault) => {
  expect(differenceOf(ten, terms)).toMatch(fault)
})

test('a coupon holds to the last instant of its end', () => {
  const end = new Date('2026-12-01T02:59:59.999Z')
  expect(holds(null, end)).toBe(true)
  expect(holds(end, end)).toBe(true)
  expect(holds(end.toISOString(), new Date(end.getTime() + 1))).toBe(false)
})

test('no other file but the adapters asks the platform for a coupon', async () => {
  const root = join(import.meta.dirname, '../../../../operations')
  const asking: string[] = []
  for (const file of await readdir(root, { recursive: true })) {
    if (!file.endsWith('.ts') || file.startsWith('store/ecommerce/')) continue
    const text = await readFile(join(root, file), 'utf8')
    if (text.includes('ensureCoupon(')) asking.push(file)
  }
  expect(asking).toEqual(['store/connections/coupons.ts'])
})
