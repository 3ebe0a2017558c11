/** A promised coupon must match the platform's code. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findDifference, isUsableAt } from '#operations/store/connections/coupons'
import type { CouponTerms } from '#operations/store/ecommerce/port'

const ten: CouponTerms = {
  type: 'percentage',
  value: '10.00',
  minimumAmount: null,
  usageLimit: null,
  endsAt: null,
}

test('a code with the same terms, or more generous limits, keeps the promise', () => {
  expect(findDifference(ten, ten)).toBeNull()
  expect(findDifference(ten, { ...ten, value: '10' })).toBeNull()
  expect(findDifference({ ...ten, minimumAmount: '50.00' }, ten)).toBeNull()
  expect(findDifference({ ...ten, usageLimit: 1 }, ten)).toBeNull()
  const [end, whole] = ['2026-12-01T02:59:59.999Z', '2026-12-01T02:59:59.000Z']
  expect(findDifference({ ...ten, endsAt: end }, { ...ten, endsAt: whole })).toBeNull()
})

test.each<[string, CouponTerms | null, RegExp]>([
  ['value', { ...ten, value: '5.00' }, /gives 5 %, not 10 %$/],
  ['type', { ...ten, type: 'amount' }, /gives 10\.00 off, not 10 %$/],
  ['free shipping', { ...ten, type: 'free-shipping', value: null }, /gives free shipping/],
  ['minimum', { ...ten, minimumAmount: '80.00' }, /needs an order of 80\.00 or more$/],
  ['uses', { ...ten, usageLimit: 100 }, /may be used 100 times in all$/],
  ['end', { ...ten, endsAt: '2026-12-01T00:00:00.000Z' }, /ends at 2026-12-01/],
  ['kind', null, /is another kind of discount$/],
])('a code with another %s breaks the promise', (_name, terms, fault) => {
  expect(findDifference(ten, terms)).toMatch(fault)
})

test('a coupon is usable up to the last instant', () => {
  const end = new Date('2026-12-01T02:59:59.999Z')
  expect(isUsableAt(null, end)).toBe(true)
  expect(isUsableAt(end, end)).toBe(true)
  expect(isUsableAt(end.toISOString(), new Date(end.getTime() + 1))).toBe(false)
})

test('only coupons.ts and the adapters call ensureCoupon', async () => {
  const root = join(import.meta.dirname, '../../../../operations')
  const asking: string[] = []
  for (const file of await readdir(root, { recursive: true })) {
    if (!file.endsWith('.ts') || file.startsWith('store/ecommerce/')) continue
    const text = await readFile(join(root, file), 'utf8')
    if (text.includes('ensureCoupon(')) asking.push(file)
  }
  expect(asking).toEqual(['store/connections/coupons.ts'])
})
