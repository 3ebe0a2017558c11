/** Changes of plan (subscription, rules 6 to 9). */

import { describe, expect, test } from 'vitest'
import createCampaign from '#operations/campaigns/campaigns/api/create-campaign'
import listCampaigns from '#operations/campaigns/campaigns/api/list-campaigns'
import createList from '#operations/campaigns/lists/api/create-list'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import getPreApproval from '#operations/subscription/reads/api/get-pre-approval'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { dayMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { type Billed, billed, payer as payerOf, startAt } from '#test/support/subscriber'

const app = await testApp()

/** Paid on 1 November at midnight: thirty days to 1 December. */
const payer = (body: Record<string, unknown> = { planId: 'starter' }, card?: 'declinesLater') =>
  payerOf(app, body, card)
const change = async (me: Billed, body: Record<string, unknown>) => {
  const answer = await me.post(updatePlan, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const agreement = (me: Billed) => me.read(getPreApproval)

describe('an upgrade', () => {
  test('an upgrade is previewed and prorated; a downgrade is scheduled and can be dropped', async () => {
    const me = await payer()
    await app.setClock('2026-11-11T00:00:00.000Z')
    const before = await me.read(getSubscription)
    const proration = { credit: 66, charge: 166, amountDue: 100, currency: 'BRL' }
    const preview = await change(me, { planId: 'growth', preview: true })
    expect(preview).toMatchObject({ outcome: 'applied', isPreview: true, proration, checkout: null })
    expect(preview.subscription).toEqual(before)
    expect([await me.read(getSubscription), await me.payments()]).toMatchObject([before, [{ amount: 99 }]])
    expect((await me.shop.call(listCampaigns)).status).toBe(403)

    const applied = await change(me, { planId: 'growth' })
    expect(applied).toMatchObject({ outcome: 'applied', isPreview: false, proration, checkout: null })
    expect((await me.shop.call(listCampaigns)).status).toBe(200)
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'growth',
      price: 249,
      currentPeriodStart: '2026-11-01T00:00:00.000Z',
      currentPeriodEnd: '2026-12-01T00:00:00.000Z',
      nextChargeAt: '2026-12-01T00:00:00.000Z',
      nextChargeAmount: 249,
      creditBalance: 0,
    })
    expect(await me.read(getUsage)).toMatchObject({ limit: 10_000, cycleStart: '2026-11-01T00:00:00.000Z' })
    expect(await agreement(me)).toMatchObject({ amount: 249, reason: 'Growth, monthly', frequency: 1 })
    await app.drainJobs()
    expect(await me.payments()).toMatchObject([
      { amount: 100, kind: 'proration', status: 'approved', creditApplied: 66 },
      { amount: 99, kind: 'subscription' },
    ])

    const scheduled = await change(me, { planId: 'starter' })
    expect(scheduled).toMatchObject({
      outcome: 'scheduled',
      effectiveAt: '2026-12-01T00:00:00.000Z',
      proration: { credit: 0, charge: 0, amountDue: 0 },
      subscription: {
        planId: 'growth',
        nextChargeAmount: 99,
        scheduledChange: { planId: 'starter', price: 99 },
      },
    })
    expect(await agreement(me)).toMatchObject({ amount: 99 })
    const unscheduled = await change(me, { planId: 'growth' })
    expect(unscheduled).toMatchObject({
      outcome: 'unscheduled',
      subscription: { scheduledChange: null, nextChargeAmount: 249 },
    })
    expect(await agreement(me)).toMatchObject({ amount: 249 })
    expect((await me.post(updatePlan, { planId: 'growth' })).status).toBe(409)
    expect((await me.post(updatePlan, { preview: true })).status).toBe(400)
  })

  test('data of a feature that the plan lost is back with the next larger plan', async () => {
    const me = await payer({ planId: 'growth' })
    const list = await me.shop.call(createList, { body: { name: 'All' } })
    expect(list.status).toBe(201)
    const body = { name: 'Sale', listId: list.body.id }
    expect((await me.shop.call(createCampaign, { body })).status).toBe(201)
    await change(me, { planId: 'starter' })
    await app.setClock('2026-12-01T00:00:00.000Z')
    // Time-based, before any job ran.
    expect((await me.shop.call(listCampaigns)).status).toBe(403)
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'starter',
      scheduledChange: null,
      messagesPerCycle: 1000,
    })
    expect(await me.read(getUsage)).toMatchObject({ limit: 1000, cycleStart: '2026-12-01T00:00:00.000Z' })
    await app.drainJobs()
    expect((await me.payments())[0]).toMatchObject({ amount: 99, status: 'approved', kind: 'subscription' })
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'starter',
      price: 99,
      nextChargeAmount: 99,
    })
    await change(me, { planId: 'growth' })
    expect((await me.shop.call(listCampaigns)).body).toMatchObject({ total: 1 })
    expect((await me.payments())[0]).toMatchObject({ amount: 150, kind: 'proration' })
  })

  test('three concurrent upgrades make and charge one', async () => {
    const me = await payer()
    await app.setClock('2026-11-11T00:00:00.000Z')
    const answers = await Promise.all([1, 2, 3].map(() => me.post(updatePlan, { planId: 'growth' })))
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409, 409])
    await app.drainJobs()
    expect((await me.payments()).map((each) => each.amount)).toEqual([100, 99])
  })

  test('a declined card changes nothing', async () => {
    const me = await payer({ planId: 'starter' }, 'declinesLater')
    const before = await me.read(getSubscription)
    await app.setClock('2026-11-11T00:00:00.000Z')
    const refused = await me.post(updatePlan, { planId: 'growth' })
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'The card was declined (card-declined): nothing has changed. Use POST /subscription/card-update',
    ])
    await app.drainJobs()
    expect(await me.read(getSubscription)).toEqual(before)
    expect(await me.payments()).toMatchObject([
      { status: 'rejected', amount: 100, kind: 'proration' },
      { status: 'approved', amount: 99 },
    ])
  })

  test('a provider that is down charges nothing, and the change can be retried', async () => {
    const me = await payer()
    await app.setClock('2026-11-11T00:00:00.000Z')
    await me.mode('down')
    expect((await me.post(updatePlan, { planId: 'growth' })).status).toBe(503)
    await me.mode('up')
    expect(await change(me, { planId: 'growth' })).toMatchObject({ outcome: 'applied' })
    await app.drainJobs()
    expect(await me.payments()).toHaveLength(2)
  })

  test('a second upgrade within a period credits the current plan', async () => {
    const me = await payer()
    await app.setClock('2026-11-11T00:00:00.000Z')
    await change(me, { planId: 'growth' })
    await app.setClock('2026-11-21T00:00:00.000Z')
    // A third of the period is left: of 249.00 and of 799.00.
    expect((await change(me, { planId: 'scale', preview: true })).proration).toEqual({
      credit: 83,
      charge: 266.33,
      amountDue: 183.33,
      currency: 'BRL',
    })
  })

  test('a coupon reduces the charge and counts it', async () => {
    const me = await payer()
    await app.setClock('2026-11-11T00:00:00.000Z')
    const changed = await change(me, { planId: 'growth', couponCode: 'welcome10' })
    expect(changed).toMatchObject({
      proration: { credit: 66, charge: 149.4, amountDue: 83.4 },
      subscription: { coupon: { code: 'WELCOME10', remainingCycles: 2 }, nextChargeAmount: 224.1 },
    })
    expect((await me.payments())[0]).toMatchObject({ amount: 83.4, discount: 16.6, creditApplied: 66 })
    const again = await me.post(updatePlan, { planId: 'scale', couponCode: 'WELCOME10' })
    expect([again.status, again.body.error.message]).toEqual([
      400,
      'couponCode: cannot be redeemed (already-used): this store has used it already',
    ])
  })
})

describe('another cycle', () => {
  test('a yearly cycle begins when its checkout is paid, not earlier', async () => {
    const me = await payer()
    await app.setClock('2026-11-11T00:00:00.000Z')
    const before = await me.read(getSubscription)
    const changed = await change(me, { billingCycle: 'yearly' })
    expect(changed).toMatchObject({
      outcome: 'checkout-required',
      effectiveAt: null,
      proration: { credit: 66, charge: 990, amountDue: 924 },
      checkout: { kind: 'update-plan', status: 'open', amount: 924, billingCycle: 'yearly' },
      subscription: before,
    })
    const old = (await agreement(me)).id
    expect(await me.pay(changed.checkout.checkoutUrl)).toBe(303)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'starter',
      billingCycle: 'yearly',
      price: 990,
      currentPeriodStart: '2026-11-11T00:00:00.000Z',
      currentPeriodEnd: '2027-11-11T00:00:00.000Z',
      nextChargeAmount: 990,
      creditBalance: 0,
    })
    expect(await me.read(getUsage)).toMatchObject({
      used: 0,
      cycleStart: '2026-11-11T00:00:00.000Z',
      cycleEnd: '2026-12-11T00:00:00.000Z',
    })
    expect(await agreement(me)).toMatchObject({ status: 'authorized', frequency: 12 })
    expect((await app.services.adapters.billing.sandbox!.getAgreement(old)).status).toBe('cancelled')
  })

  test('remaining credit reduces the next charges', async () => {
    const me = await payer({ planId: 'starter', billingCycle: 'yearly' })
    await app.setClock('2026-11-11T00:00:00.000Z')
    const { checkout, proration } = await change(me, { planId: 'growth', billingCycle: 'monthly' })
    // 355 of 365 days of 990.00 are left: 962.88, of which 249.00 are used now and 249.00 next.
    expect(proration).toEqual({ credit: 962.88, charge: 249, amountDue: 0, currency: 'BRL' })
    expect(await me.pay(checkout.checkoutUrl)).toBe(303)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'growth',
      creditBalance: 713.88,
      nextChargeAmount: 0,
    })
    expect((await agreement(me)).amount).toBe(0)
    for (const at of ['2026-12-11', '2027-01-11', '2027-02-11']) {
      await app.setClock(`${at}T00:00:00.000Z`)
      await app.drainJobs()
    }
    expect(await me.read(getSubscription)).toMatchObject({
      creditBalance: 0,
      nextChargeAmount: 249,
      currentPeriodStart: '2027-02-11T00:00:00.000Z',
    })
    // The period that began at the checkout and the next one are paid wholly by credit.
    expect((await me.payments()).map((each) => each.amount)).toEqual([33.12, 0, 0, 0, 990])
    expect((await agreement(me)).amount).toBe(249)
  })

  test('a downgrade to another cycle needs a new agreement that begins with the next period', async () => {
    const me = await payer({ planId: 'growth' })
    await app.setClock('2026-11-11T00:00:00.000Z')
    const changed = await change(me, { planId: 'starter', billingCycle: 'yearly' })
    expect(changed).toMatchObject({
      outcome: 'checkout-required',
      effectiveAt: '2026-12-01T00:00:00.000Z',
      proration: { credit: 0, charge: 0, amountDue: 0 },
      checkout: { amount: 0 },
    })
    const old = (await agreement(me)).id
    expect(await me.pay(changed.checkout.checkoutUrl)).toBe(303)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'growth',
      billingCycle: 'monthly',
      scheduledChange: { planId: 'starter', billingCycle: 'yearly', price: 990 },
      nextChargeAt: '2026-12-01T00:00:00.000Z',
      nextChargeAmount: 990,
    })
    expect((await app.services.adapters.billing.sandbox!.getAgreement(old)).status).toBe('cancelled')
    // The agreement is yearly now: the current plan needs a new one.
    const back = await change(me, { planId: 'growth', billingCycle: 'monthly', preview: true })
    expect(back).toMatchObject({ outcome: 'checkout-required', proration: { amountDue: 0 } })
    await app.setClock('2026-12-01T00:00:00.000Z')
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'starter',
      billingCycle: 'yearly',
      currentPeriodEnd: '2027-12-01T00:00:00.000Z',
      scheduledChange: null,
    })
    expect((await me.payments())[0]).toMatchObject({ amount: 990, planId: 'starter', billingCycle: 'yearly' })
  })

  test('returning to the current plan by a checkout leaves nothing scheduled', async () => {
    const me = await payer({ planId: 'growth' })
    const away = await change(me, { planId: 'starter', billingCycle: 'yearly' })
    await me.pay(away.checkout.checkoutUrl)
    const back = await change(me, { planId: 'growth', billingCycle: 'monthly' })
    await me.pay(back.checkout.checkoutUrl)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({ scheduledChange: null, nextChargeAmount: 249 })
    await app.setClock('2026-12-01T00:00:00.000Z')
    await app.drainJobs()
    expect((await me.payments()).map((each) => each.amount)).toEqual([249, 249])
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'growth',
      currentPeriodEnd: '2027-01-01T00:00:00.000Z',
    })
  })
})

describe('elsewhere', () => {
  test('a trial and a store without a provider pay for a plan by a checkout', async () => {
    await startAt(app, '2026-11-01T00:00:00.000Z')
    const trial = await billed(app)
    expect((await trial.post(updatePlan, { billingCycle: 'yearly' })).status).toBe(400)
    const first = await change(trial, { planId: 'scale' })
    expect(first).toMatchObject({ outcome: 'checkout-required', proration: { amountDue: 799 } })
    await trial.pay(first.checkout.checkoutUrl)
    expect(await trial.read(getSubscription)).toMatchObject({ status: 'active', planId: 'scale' })

    const gift = await billed(app, { plan: 'starter' })
    await app.setClock('2026-11-16T00:00:00.000Z')
    const paid = await change(gift, { planId: 'growth' })
    expect(paid).toMatchObject({ outcome: 'checkout-required', proration: { credit: 0, amountDue: 124.5 } })
    await gift.pay(paid.checkout.checkoutUrl)
    await app.drainJobs()
    expect(await gift.read(getSubscription)).toMatchObject({
      planId: 'growth',
      provider: 'sandbox',
      currentPeriodEnd: '2026-12-01T00:00:00.000Z',
      nextChargeAmount: 249,
    })
    await app.setClock('2026-12-01T00:00:00.000Z')
    await app.drainJobs()
    expect((await gift.payments()).map((each) => each.amount)).toEqual([249, 124.5])
  })

  test('a smaller plan without a provider is scheduled without a charge', async () => {
    await startAt(app, '2027-01-01T00:00:00.000Z')
    const gift = await billed(app, { plan: 'growth' })
    expect(await change(gift, { planId: 'starter' })).toMatchObject({ outcome: 'scheduled' })
    await app.advance(31 * dayMs)
    await app.drainJobs()
    expect(await gift.read(getSubscription)).toMatchObject({
      planId: 'starter',
      status: 'active',
      currentPeriodStart: '2027-02-01T00:00:00.000Z',
      nextChargeAmount: null,
      provider: null,
    })
    expect(await gift.payments()).toEqual([])
  })
})
