/** The first payment, and the effects of a checkout (subscription, rules 9 and 10). */

import { describe, expect, test } from 'vitest'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import resumeSubscription from '#operations/subscription/billing/api/resume-subscription'
import updateCard from '#operations/subscription/billing/api/update-card'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import validateCoupon from '#operations/subscription/billing/api/validate-coupon'
import getCheckoutResult from '#operations/subscription/reads/api/get-checkout-result'
import getPreApproval from '#operations/subscription/reads/api/get-pre-approval'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getTrial from '#operations/subscription/reads/api/get-trial'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { dayMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { billed } from '#test/support/subscriber'

const app = await testApp()

describe('the first payment', () => {
  test('a trial becomes a paid plan despite coupons, a newer checkout and a declined card', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const me = await billed(app)
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'trial',
      status: 'trialing',
      canWrite: true,
      provider: null,
      price: null,
      billingCycle: null,
      trialEndsAt: '2026-12-04T12:00:00.000Z',
      nextChargeAt: null,
    })
    expect(await me.read(getTrial)).toEqual({
      isTrial: true,
      startedAt: '2026-11-20T12:00:00.000Z',
      endsAt: '2026-12-04T12:00:00.000Z',
      daysLeft: 14,
      isExpired: false,
      paymentFailedRecently: false,
      lastFailedPayment: null,
    })
    expect((await me.read(getCheckoutResult)).status).toBe('none')
    expect((await me.shop.call(getPreApproval)).status).toBe(404)
    expect(await me.read(getUsage)).toMatchObject({ limit: 200, used: 0, percentUsed: 0 })

    const coupon = async (code: string) => (await me.post(validateCoupon, { code, planId: 'growth' })).body
    expect(await coupon('welcome10')).toEqual({
      code: 'WELCOME10',
      isValid: true,
      reason: null,
      percentOff: 10,
      amountOff: null,
      durationCycles: 3,
      planIds: null,
      originalAmount: 249,
      discountedAmount: 224.1,
      currency: 'BRL',
    })
    expect(await coupon('EXPIRED')).toMatchObject({ isValid: false, reason: 'expired' })
    expect(await coupon('SCALE20')).toMatchObject({ isValid: false, reason: 'not-for-plan' })
    expect(await coupon('USEDUP')).toMatchObject({ isValid: false, reason: 'exhausted' })
    expect(await coupon('FIRST50')).toMatchObject({ isValid: false, reason: 'not-for-plan' })
    expect(await coupon('nope')).toMatchObject({
      isValid: false,
      reason: 'not-found',
      discountedAmount: null,
    })

    await app.advance(3_600_000)
    const wanted = { planId: 'growth', couponCode: 'WELCOME10' }
    const first = await me.post(createPreapproval, wanted)
    expect([first.status, first.body.amount, first.body.status]).toEqual([201, 224.1, 'open'])
    const second = await me.post(createPreapproval, wanted)
    expect(second.status).toBe(201)
    expect([await me.open(first.body.checkoutUrl), await me.open(second.body.checkoutUrl)]).toEqual([
      410, 200,
    ])
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'pending', amount: 224.1 })

    expect(await me.pay(second.body.checkoutUrl, 'declined')).toBe(303)
    expect(await me.read(getCheckoutResult)).toMatchObject({
      id: second.body.id,
      status: 'rejected',
      checkoutUrl: null,
      failureReason: 'card-declined',
    })
    expect(await me.read(getSubscription)).toMatchObject({ status: 'trialing', provider: null })
    expect(await me.read(getTrial)).toMatchObject({
      paymentFailedRecently: true,
      lastFailedPayment: { amount: 224.1, currency: 'BRL', reason: 'card-declined' },
    })

    await app.advance(1000)
    await me.subscribe(wanted)
    const paidAt = app.clock.now().toISOString()
    expect(await me.read(getCheckoutResult)).toMatchObject({ status: 'approved', completedAt: paidAt })
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'growth',
      status: 'active',
      price: 249,
      currency: 'BRL',
      billingCycle: 'monthly',
      provider: 'sandbox',
      currentPeriodStart: paidAt,
      currentPeriodEnd: '2026-12-20T13:00:01.000Z',
      nextChargeAt: '2026-12-20T13:00:01.000Z',
      nextChargeAmount: 224.1,
      coupon: { code: 'WELCOME10', percentOff: 10, amountOff: null, remainingCycles: 2 },
      paymentMethod: { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2039 },
    })
    expect(await me.read(getUsage)).toMatchObject({ limit: 10_000, used: 0, cycleStart: paidAt })
    expect(await me.payments()).toMatchObject([
      { status: 'approved', amount: 224.1, discount: 24.9, kind: 'subscription', periodStart: paidAt },
      { status: 'rejected', amount: 224.1 },
    ])
    expect(await me.read(getTrial)).toMatchObject({
      isTrial: false,
      daysLeft: 0,
      paymentFailedRecently: false,
    })
    expect((await me.post(validateCoupon, { code: 'WELCOME10' })).body.reason).toBe('already-used')
    expect((await me.post(createPreapproval, wanted)).status).toBe(409)
  })

  test('a repeated or late hook makes no second payment', async () => {
    const me = await billed(app)
    await me.subscribe({ planId: 'starter' })
    const before = await me.read(getSubscription)
    await app.database.query('update sandbox_billing_events set delivered_at = null where store_id = $1', [
      me.shop.id,
    ])
    await app.database.query('update provider_events set applied_at = null where store_id = $1', [me.shop.id])
    await app.database.query(
      `insert into provider_events (id, store_id, port, provider, key, kind, payload, occurred_at, created_at)
       select uuid_v7(created_at), store_id, port, provider, key || ':again', kind, payload,
         occurred_at - interval '1 hour', created_at from provider_events where store_id = $1`,
      [me.shop.id],
    )
    const { applyEvents } = await import('#operations/store/provider-events/apply')
    const { SystemContext } = await import('#runtime/context')
    const rows = await app.database.query<{ key: string }>(
      'select key from provider_events where store_id = $1',
      [me.shop.id],
    )
    const system = new SystemContext(app.services, app.services.log, 'test')
    const keys = rows.map((row) => row.key)
    expect(await applyEvents(system, 'billing', 'sandbox', keys)).toBe(true)
    expect(await me.payments()).toHaveLength(1)
    expect(await me.read(getSubscription)).toEqual(before)
  })

  test('a checkout is completed once, and an expired one never, here and at the provider', async () => {
    const me = await billed(app)
    const { body } = await me.post(createPreapproval, { planId: 'growth' })
    expect(await me.pay(body.checkoutUrl)).toBe(303)
    expect(await me.pay(body.checkoutUrl)).toBe(410)
    expect(await me.payments()).toHaveLength(1)

    const late = await billed(app)
    const old = (await late.post(createPreapproval, { planId: 'growth' })).body
    await app.advance(dayMs)
    expect(await late.read(getCheckoutResult)).toMatchObject({ status: 'expired', checkoutUrl: null })
    expect(await late.pay(old.checkoutUrl)).toBe(410)
    await app.drainJobs()
    const id = new URL(old.checkoutUrl).pathname.split('/').at(-1)!
    const there = await app.database.query('select status from sandbox_checkouts where id = $1', [id])
    expect(there).toEqual([{ status: 'cancelled' }])
    expect(await late.read(getCheckoutResult)).toMatchObject({
      status: 'expired',
      completedAt: old.expiresAt,
    })
  })

  test('two checkouts at once leave one open', async () => {
    const me = await billed(app)
    await Promise.all([1, 2, 3].map(() => me.post(createPreapproval, { planId: 'growth' })))
    const open = await app.database.query<{ url: string }>(
      `select url from checkouts where store_id = $1 and status = 'open'`,
      [me.shop.id],
    )
    expect(open).toHaveLength(1)
    const urls = await app.database.query<{ url: string }>('select url from checkouts where store_id = $1', [
      me.shop.id,
    ])
    const pages = await Promise.all(urls.map(({ url }) => me.open(url)))
    expect(pages.sort()).toEqual([200, 410, 410])
  })

  test('a provider that is down opens nothing', async () => {
    const me = await billed(app)
    await me.mode('down')
    expect((await me.post(createPreapproval, { planId: 'growth' })).status).toBe(503)
    expect((await me.read(getCheckoutResult)).status).toBe('none')
    await me.mode('up')
    expect((await me.post(createPreapproval, { planId: 'growth' })).status).toBe(201)
    await me.mode('down')
    expect((await me.shop.call(getPreApproval)).status).toBe(503)
  })

  test('an operation that the status forbids names the one to use', async () => {
    const me = await billed(app)
    const coupon = await me.post(createPreapproval, { planId: 'growth', couponCode: 'NOPE' })
    expect([coupon.status, coupon.body.error.message]).toEqual([
      400,
      'couponCode: cannot be redeemed (not-found): there is no such coupon',
    ])
    expect((await me.post(createPreapproval, { planId: 'trial' })).status).toBe(400)
    expect((await me.post(validateCoupon, { code: ' ' })).status).toBe(400)
    expect((await me.post(updatePlan, {})).status).toBe(400)
    expect((await me.post(resumeSubscription, {})).status).toBe(409)
    expect((await me.post(updateCard, {})).status).toBe(409)
  })

  test('a store in dollars pays in dollars; another currency is charged in dollars too', async () => {
    const me = await billed(app, { plan: null, country: 'US', currency: 'USD' })
    await me.subscribe({ planId: 'growth', billingCycle: 'yearly' })
    expect(await me.read(getSubscription)).toMatchObject({
      price: 490,
      currency: 'USD',
      billingCycle: 'yearly',
    })
    const other = await billed(app, { plan: null, country: 'DE', currency: 'EUR' })
    expect((await other.post(createPreapproval, { planId: 'scale' })).body).toMatchObject({
      amount: 149,
      currency: 'USD',
    })
  })

  test('a coupon of another currency is valid for no plan and answers no amount', async () => {
    const me = await billed(app, { plan: null, country: 'US', currency: 'USD' })
    for (const planId of [undefined, 'starter', 'growth', 'scale']) {
      const { body } = await me.post(validateCoupon, { code: 'FIRST50', planId, billingCycle: 'yearly' })
      expect(body).toMatchObject({
        isValid: false,
        reason: 'not-for-plan',
        amountOff: null,
        planIds: [],
        discountedAmount: null,
        currency: 'USD',
      })
    }
    expect((await me.post(validateCoupon, { code: 'WELCOME10' })).body).toMatchObject({
      isValid: true,
      planIds: null,
    })
  })
})
