/** Months that pass at once cost what they cost one after the other: the sandbox's clock may jump over several charges. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getUsage from '#operations/subscription/reads/api/get-usage'
import listPayments from '#operations/subscription/reads/api/list-payments'
import { dayMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { type Billed, type CardName, moveTo, payer } from '#test/support/subscriber'
import { runs } from '#test/support/suite'

const app = await testApp()
const start = Date.parse('2026-11-01T00:00:00.000Z')
const after = (days: number) => new Date(start + days * dayMs).toISOString()

interface Story {
  body: { planId: string; billingCycle: string; couponCode?: string }
  card: CardName
  /** A change of the plan ten days later, which may be refused; a checkout that it needs is paid. */
  change: { planId: string; billingCycle: string; couponCode?: string } | null
}

async function begin({ body, card, change }: Story): Promise<Billed> {
  const me = await payer(app, body, card)
  if (!change) return me
  await moveTo(app, after(10))
  const { status, body: answer } = await me.post(updatePlan, change)
  expect([200, 201, 400, 409], JSON.stringify(answer)).toContain(status)
  if (answer.checkout) expect(await me.pay(answer.checkout.checkoutUrl, card)).toBe(303)
  return me
}

/** The subscription, payments and usage of the store, without ids and the times of our own writes. */
async function readFigures(me: Billed) {
  const {
    id: _own,
    updatedAt: _updated,
    createdAt: _created,
    ...subscription
  } = await me.read(getSubscription)
  const { data } = (await me.shop.call(listPayments, { query: { limit: 100 } })).body
  const rows = await app.database.root
    .selectFrom('sandbox_payments')
    .select(['amount', 'refunded', 'status', 'due_at', 'attempt', 'created_at'])
    .where('store_id', '=', me.shop.id)
    .orderBy('created_at')
    .orderBy('attempt')
    .execute()
  const payments = data.map(
    ({ id: _id, updatedAt: _at, receiptUrl: _url, ...payment }: Record<string, unknown>) => payment,
  )
  return { subscription, payments, usage: await me.read(getUsage), rows }
}

const plan = fc.constantFrom('starter', 'growth', 'scale')
const cycle = fc.constantFrom('monthly', 'monthly', 'monthly', 'yearly')
const withCoupon = (coupons: string[]) =>
  fc
    .record({ planId: plan, billingCycle: cycle, couponCode: fc.constantFrom(undefined, ...coupons) })
    .filter(({ couponCode, planId, billingCycle }) => {
      if (couponCode === 'SCALE20') return planId === 'scale'
      return couponCode !== 'FIRST50' || billingCycle === 'yearly'
    })
    .map(({ couponCode, ...body }) => (couponCode ? { ...body, couponCode } : body))
const story = fc.record({
  body: withCoupon(['WELCOME10', 'WELCOME10', 'SCALE20', 'FIRST50']),
  card: fc.constantFrom<CardName>('good', 'good', 'good', 'declinesLater', 'chargedBack'),
  change: fc.option(withCoupon(['SCALE20'])),
})

test('a coupon for three charges takes off three times in a jump of five months', async () => {
  const me = await payer(app, { planId: 'growth', couponCode: 'WELCOME10' })
  await moveTo(app, '2027-04-02T00:00:00.000Z')
  const amounts = (await me.payments()).map(({ amount }) => amount)
  expect(amounts).toEqual([249, 249, 249, 224.1, 224.1, 224.1])
})

test('figures after one jump equal figures after the same months step by step', async () => {
  await fc.assert(
    fc.asyncProperty(
      story,
      fc.integer({ min: 15, max: 200 }),
      fc.array(fc.integer({ min: 11, max: 199 }), { minLength: 2, maxLength: 5 }),
      async (given, days, stops) => {
        const jumping = await begin(given)
        await moveTo(app, after(days))
        const atOnce = await readFigures(jumping)
        const walking = await begin(given)
        for (const stop of [...new Set(stops)].filter((each) => each < days).sort((a, b) => a - b)) {
          await moveTo(app, after(stop))
        }
        await moveTo(app, after(days))
        expect(atOnce).toEqual(await readFigures(walking))
      },
    ),
    // A failure ends the run: to shrink it takes longer than the test may.
    { ...runs(12, 2), endOnFailure: true },
  )
}, 240_000)
