/** The reasons against redeeming a coupon. */
import { expect, test } from 'vitest'
import validateCoupon from '#operations/subscription/billing/api/validate-coupon'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test.each([
  ['welcome10', {}, '2026-11-20T12:00:00.000Z', null],
  ['NOPE', {}, '2026-11-20T12:00:00.000Z', 'not-found'],
  ['NOTYET', {}, '2039-12-31T23:59:59.999Z', 'not-started'],
  ['NOTYET', {}, '2040-01-01T00:00:00.000Z', null],
  ['EXPIRED', {}, '2019-12-31T23:59:59.999Z', null],
  ['EXPIRED', {}, '2020-01-01T00:00:00.000Z', 'expired'],
  ['USEDUP', {}, '2026-11-20T12:00:00.000Z', 'exhausted'],
  ['SCALE20', { planId: 'growth' }, '2026-11-20T12:00:00.000Z', 'not-for-plan'],
  ['SCALE20', { planId: 'scale' }, '2026-11-20T12:00:00.000Z', null],
  ['FIRST50', { billingCycle: 'monthly' }, '2026-11-20T12:00:00.000Z', 'not-for-plan'],
  ['FIRST50', { billingCycle: 'yearly' }, '2026-11-20T12:00:00.000Z', null],
])('%s for %j at %s: %s', async (code, wanted, at, reason) => {
  const shop = await store(app)
  await app.setClock(at)
  const { status, body } = await shop.call(validateCoupon, { body: { code, ...wanted } })
  expect([status, body.isValid, body.reason]).toEqual([200, reason === null, reason])
})
