/** The demo's subscriptions: their payments, and that they exist at the sandbox's provider. */
import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'
import type { Answer } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const demo = await seedDemo(app.services)

async function call(
  store: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const { key } = demo.keys.find((each) => each.store === store && each.name.endsWith('all scopes'))!
  const response = await app.fetch(
    new Request(`http://localhost/v1/subscription${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }),
    { ip: '127.0.0.1' },
  )
  return { status: response.status, body: await response.json() }
}
const aurora = async (path = '') => (await call('aurora-supply', 'GET', path)).body

test('Aurora has fifteen payments, the first three with WELCOME10, one declined and retried a day later', async () => {
  const { data, total } = await aurora('/payments?limit=50')
  expect(total).toBe(15)
  const oldestFirst = data.reverse()
  expect(oldestFirst.map((each: { amount: number }) => each.amount)).toEqual([
    ...Array(3).fill(719.1),
    ...Array(12).fill(799),
  ])
  const declined = oldestFirst.findIndex((each: { status: string }) => each.status === 'rejected')
  expect(declined).toBe(10)
  const [failed, retried] = [oldestFirst[declined], oldestFirst[declined + 1]]
  expect([retried.attempt, retried.periodStart]).toEqual([2, failed.periodStart])
  expect(Date.parse(retried.paidAt) - Date.parse(failed.createdAt)).toBe(24 * 3_600_000)
  expect(await aurora()).toMatchObject({
    status: 'active',
    planId: 'scale',
    coupon: null,
    nextChargeAmount: 799,
    paymentMethod: { brand: 'visa', last4: '4242' },
  })
  expect(await aurora('/checkout-result')).toMatchObject({
    status: 'approved',
    couponCode: 'WELCOME10',
    amount: 719.1,
  })
  const coupon = await call('aurora-supply', 'POST', '/validate-coupon', { code: 'welcome10' })
  expect(coupon.body).toMatchObject({ isValid: false, reason: 'already-used' })
  const usage = await aurora('/usage')
  expect(usage.used).toBe(usage.bySource.reduce((sum: number, each: { used: number }) => sum + each.used, 0))
  expect(usage.used).toBe(usage.daily.reduce((sum: number, each: { used: number }) => sum + each.used, 0))
})

test.runIf(isFullSuite)('its agreement is real: it takes a smaller plan and renews with it', async () => {
  expect(await aurora('/pre-approval')).toMatchObject({
    status: 'authorized',
    amount: 799,
    reason: 'Scale, monthly',
    payerEmail: 'olivia@aurora.example',
  })
  const changed = await call('aurora-supply', 'POST', '/update-plan', { planId: 'growth' })
  expect(changed.body).toMatchObject({ outcome: 'scheduled', subscription: { nextChargeAmount: 249 } })
  expect(await aurora('/pre-approval')).toMatchObject({ amount: 249 })
  await app.setClock(changed.body.effectiveAt)
  await app.drainJobs()
  expect(await aurora()).toMatchObject({
    planId: 'growth',
    status: 'active',
    currentPeriodStart: changed.body.effectiveAt,
  })
  expect((await aurora('/payments')).total).toBe(16)
})

test('Borealis has paid a year in dollars and was cancelled at the provider', async () => {
  const before = (await call('borealis-goods', 'GET', '')).body
  expect(before).toMatchObject({ planId: 'growth', billingCycle: 'yearly', price: 490, currency: 'USD' })
  expect((await call('borealis-goods', 'GET', '/payments')).body.total).toBe(1)
  const cancelled = await call('borealis-goods', 'POST', '/cancel', {})
  expect(cancelled.body).toMatchObject({ status: 'cancelled', endsAt: before.currentPeriodEnd })
  expect((await call('borealis-goods', 'GET', '/pre-approval')).body.status).toBe('cancelled')
})
