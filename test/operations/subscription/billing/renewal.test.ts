/** Renewals, failures, pauses and endings: the state table of a subscription, row by row. */

import { describe, expect, test } from 'vitest'
import updateStore from '#operations/store/profile/api/update-store'
import cancelSubscription from '#operations/subscription/billing/api/cancel-subscription'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import resumeSubscription from '#operations/subscription/billing/api/resume-subscription'
import updateCard from '#operations/subscription/billing/api/update-card'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import { reconcile } from '#operations/subscription/billing/reconcile'
import { paymentFailedEmail } from '#operations/subscription/handles'
import getCheckoutResult from '#operations/subscription/reads/api/get-checkout-result'
import getPreApproval from '#operations/subscription/reads/api/get-pre-approval'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getTrial from '#operations/subscription/reads/api/get-trial'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { dayMs, hourMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { type Billed, billed, moveTo as moveToOf, payer as payerOf, startAt } from '#test/support/subscriber'

const app = await testApp()
const begun = '2026-11-01T00:00:00.000Z'
const due = '2026-12-01T00:00:00.000Z'

const payer = (
  body: Record<string, unknown> = { planId: 'growth' },
  card: 'good' | 'declinesLater' | 'chargedBack' = 'good',
) => payerOf(app, body, card)
const moveTo = (at: string) => moveToOf(app, at)
const writes = async (me: Billed) =>
  (await me.shop.call(updateStore, { body: { phone: '+551140002000' } })).status
const usedOf = async (me: Billed) => (await me.read(getUsage)).cycleStart
describe('a renewal', () => {
  test('begins the next period, counted from its anchor on 31 January', async () => {
    const me = await payerOf(app, { planId: 'starter' }, 'good', '2027-01-31T15:00:00.000Z')
    const seen: string[] = []
    for (const at of ['2027-02-28T15:00:00.000Z', '2027-03-31T15:00:00.000Z', '2027-04-30T15:00:00.000Z']) {
      await moveTo(at)
      const { currentPeriodStart, status } = await me.read(getSubscription)
      seen.push(currentPeriodStart)
      expect([status, await usedOf(me)]).toEqual(['active', at])
    }
    expect(seen).toEqual(['2027-02-28T15:00:00.000Z', '2027-03-31T15:00:00.000Z', '2027-04-30T15:00:00.000Z'])
    expect(await me.payments()).toHaveLength(4)
  })

  test('WELCOME10 lowers three charges, then the full price is due', async () => {
    const me = await payer({ planId: 'growth', couponCode: 'WELCOME10' })
    for (const at of [due, '2027-01-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z']) await moveTo(at)
    expect((await me.payments()).map((each) => each.amount)).toEqual([249, 224.1, 224.1, 224.1])
    expect(await me.read(getSubscription)).toMatchObject({ coupon: null, nextChargeAmount: 249 })
  })
})

describe('a failed renewal', () => {
  test('sends no email if it was paid meanwhile', async () => {
    const me = await payer()
    const about = { paymentId: 'late', amount: '249.00', currency: 'BRL' }
    await (await me.shop.context()).queue(paymentFailedEmail, about)
    await app.drainJobs()
    const mail = await app.database.query('select subject from sandbox_mail where to_address = $1', [
      me.shop.email,
    ])
    expect(mail).toEqual([])
  })

  test('is paid by a new card within the grace and keeps its anchor', async () => {
    const me = await payer({ planId: 'growth' }, 'declinesLater')
    await moveTo(due)
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'past-due',
      canWrite: true,
      graceEndsAt: '2026-12-08T00:00:00.000Z',
      nextChargeAt: '2026-12-02T00:00:00.000Z',
      nextChargeAmount: 249,
    })
    expect([await writes(me), await usedOf(me)]).toEqual([200, due])
    expect(await me.read(getTrial)).toMatchObject({ paymentFailedRecently: true, isTrial: false })
    expect(await me.notices()).toContain('payment-failed')
    const mail = await app.database.query('select subject, calls from sandbox_mail where to_address = $1', [
      me.shop.email,
    ])
    expect(mail).toEqual([{ subject: expect.stringMatching(/^The payment of Shop \d+ failed$/), calls: 1 }])
    expect((await me.post(updatePlan, { planId: 'scale' })).status).toBe(409)

    await moveTo('2026-12-02T12:00:00.000Z')
    expect(await me.payments()).toMatchObject([
      { status: 'rejected', attempt: 2 },
      { status: 'rejected', attempt: 1 },
      { status: 'approved' },
    ])
    const update = await me.post(updateCard)
    expect([update.status, update.body.kind, update.body.amount]).toEqual([201, 'card-update', 249])
    expect(await me.pay(update.body.checkoutUrl)).toBe(303)
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      graceEndsAt: null,
      currentPeriodStart: due,
      currentPeriodEnd: '2027-01-01T00:00:00.000Z',
      paymentMethod: { last4: '4242' },
    })
    expect((await me.payments())[0]).toMatchObject({
      status: 'approved',
      amount: 249,
      attempt: 3,
      periodStart: due,
    })
    await app.drainJobs()
    expect((await me.notices()).filter((type) => type === 'payment-failed')).toHaveLength(1)
    expect(await me.read(getTrial)).toMatchObject({ paymentFailedRecently: false })
  })

  test('after the last retry we charge the new card', async () => {
    const me = await payer({ planId: 'growth' }, 'declinesLater')
    await moveTo(due)
    await moveTo('2026-12-02T00:00:00.000Z')
    await moveTo('2026-12-04T00:00:00.000Z')
    await moveTo('2026-12-06T12:00:00.000Z')
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'past-due',
      nextChargeAt: null,
      nextChargeAmount: null,
    })
    const update = await me.post(updateCard)
    expect(update.body.amount).toBe(249)
    await me.pay(update.body.checkoutUrl)
    await app.drainJobs()
    await app.advance(60_000)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({ status: 'active', currentPeriodStart: due })
    expect((await me.payments()).filter((each) => each.status === 'approved')).toHaveLength(2)
  })

  test('pauses after seven days to the millisecond, whether or not the tick ran', async () => {
    const me = await payer({ planId: 'growth' }, 'declinesLater')
    await moveTo(due)
    await app.setClock('2026-12-07T23:59:59.999Z')
    expect([await writes(me), (await me.read(getSubscription)).status]).toEqual([200, 'past-due'])
    await app.setClock('2026-12-08T00:00:00.000Z')
    expect(await writes(me)).toBe(403)
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'paused',
      canWrite: false,
      pauseReason: 'payment-failed',
      pausedAt: '2026-12-08T00:00:00.000Z',
      nextChargeAt: null,
      nextChargeAmount: null,
    })
    for (const ask of [() => me.post(updateCard), () => me.post(createPreapproval, { planId: 'growth' })]) {
      const refused = await ask()
      expect([refused.status, refused.body.error.message]).toEqual([
        409,
        'The subscription is paused: use POST /subscription/resume',
      ])
    }
    await app.drainJobs()
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'paused' })
    expect(await me.notices()).toContain('subscription-paused')

    await app.advance(hourMs)
    const old = (await me.read(getPreApproval)).id
    const resumed = await me.post(resumeSubscription)
    expect(resumed.body).toMatchObject({
      kind: 'resume',
      planId: 'growth',
      billingCycle: 'monthly',
      amount: 249,
    })
    await me.pay(resumed.body.checkoutUrl)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      canWrite: true,
      pausedAt: null,
      pauseReason: null,
      currentPeriodStart: '2026-12-08T01:00:00.000Z',
    })
    expect((await app.services.adapters.billing.sandbox!.getAgreement(old)).status).toBe('cancelled')
    expect(await writes(me)).toBe(200)
    expect((await me.payments()).filter((each) => each.status === 'approved')).toHaveLength(2)
  })

  test('ends after 90 days of pause', async () => {
    const me = await payer({ planId: 'growth' }, 'declinesLater')
    await moveTo(due)
    await moveTo('2026-12-08T00:00:00.000Z')
    const over = Date.parse('2026-12-08T00:00:00.000Z') + 90 * dayMs
    await app.setClock(new Date(over - 1))
    expect((await me.read(getSubscription)).status).toBe('paused')
    await app.setClock(new Date(over))
    expect((await me.read(getSubscription)).status).toBe('ended')
    await app.drainJobs()
    expect(await me.notices()).toContain('subscription-ended')
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'cancelled' })
    await me.subscribe({ planId: 'starter' })
    expect(await me.read(getSubscription)).toMatchObject({ status: 'active', planId: 'starter' })
  })

  test('a downgrade takes effect at the end of the period although the charge fails', async () => {
    const me = await payer({ planId: 'growth' }, 'declinesLater')
    expect((await me.post(updatePlan, { planId: 'starter' })).body.outcome).toBe('scheduled')
    await moveTo(due)
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'past-due',
      planId: 'starter',
      nextChargeAmount: 99,
    })
    expect((await me.payments())[0]).toMatchObject({ status: 'rejected', amount: 99 })
  })
})

describe('at the provider', () => {
  test('a chargeback pauses at once', async () => {
    const me = await payer({ planId: 'growth' }, 'chargedBack')
    await moveTo('2026-11-02T00:00:00.000Z')
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'paused',
      pauseReason: 'chargeback',
      canWrite: false,
    })
    expect(await me.payments()).toMatchObject([{ status: 'refunded', failureReason: 'chargeback' }])
    await app.drainJobs()
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'paused' })
    // The payer resumes it at the provider, which restores nothing here, so nothing may be charged either.
    const { id } = await me.read(getPreApproval)
    await app.database.query(`update sandbox_agreements set status = 'authorized' where id = $1`, [id])
    await reconcile(await me.shop.context())
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'paused' })
    const resumed = await me.post(resumeSubscription, { planId: 'starter' })
    await me.pay(resumed.body.checkoutUrl)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({ status: 'active', planId: 'starter' })
  })

  test('a pause by the payer keeps the paid period', async () => {
    const me = await payer()
    await app.advance(hourMs)
    await me.payerActs('paused')
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      canWrite: true,
      pausedAt: due,
      pauseReason: 'provider',
      nextChargeAt: null,
    })
    await app.setClock(new Date(Date.parse(due) - 1))
    expect(await writes(me)).toBe(200)
    await app.setClock(due)
    expect([await writes(me), (await me.read(getSubscription)).status]).toEqual([403, 'paused'])
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({ status: 'paused', pauseReason: 'provider' })
  })

  test('a cancellation by the payer takes effect at the end of the period', async () => {
    const me = await payer()
    await app.advance(hourMs)
    await me.payerActs('cancelled')
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'cancelled',
      endsAt: due,
      canWrite: true,
      cancelReason: null,
    })
    expect((await me.post(cancelSubscription)).status).toBe(409)
    await moveTo(due)
    expect(await me.read(getSubscription)).toMatchObject({ status: 'ended', canWrite: false })
  })
})

describe('cancelling', () => {
  test('keeps access to the end of the paid period and credits the rest of it', async () => {
    const me = await payer({ planId: 'growth' })
    await app.setClock('2026-11-11T00:00:00.000Z')
    await me.post(updatePlan, { planId: 'starter' })
    await me.mode('down')
    expect((await me.post(cancelSubscription)).status).toBe(503)
    await me.mode('up')
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      scheduledChange: { planId: 'starter' },
    })
    const yearly = await me.post(updatePlan, { planId: 'scale', billingCycle: 'yearly' })
    const cancelled = await me.post(cancelSubscription, { reason: 'too-expensive', comment: 'Later perhaps' })
    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      canWrite: true,
      cancelledAt: '2026-11-11T00:00:00.000Z',
      endsAt: due,
      cancelReason: 'too-expensive',
      scheduledChange: null,
      nextChargeAt: null,
      nextChargeAmount: null,
    })
    expect(await me.open(yearly.body.checkout.checkoutUrl)).toBe(410)
    expect((await me.read(getCheckoutResult)).status).toBe('cancelled')
    expect((await me.post(cancelSubscription)).status).toBe(409)
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'cancelled' })

    await app.setClock('2026-11-21T00:00:00.000Z')
    const again = await me.post(createPreapproval, { planId: 'growth' })
    expect(again.body).toMatchObject({ amount: 166, kind: 'subscribe' })
    await app.setClock(new Date(Date.parse(due) - 1))
    expect(await writes(me)).toBe(200)
    await app.setClock(due)
    expect([await writes(me), (await me.read(getSubscription)).status]).toEqual([403, 'ended'])
    await app.drainJobs()
    expect(await me.notices()).toContain('subscription-ended')
    expect((await me.post(cancelSubscription)).status).toBe(409)
    expect(await me.payments()).toHaveLength(1)
  })

  test('and paying again before the end credits the unused time', async () => {
    const me = await payer({ planId: 'growth' })
    await me.post(cancelSubscription)
    await app.setClock('2026-11-21T00:00:00.000Z')
    await me.subscribe({ planId: 'growth' })
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      cancelledAt: null,
      endsAt: null,
      currentPeriodStart: '2026-11-21T00:00:00.000Z',
      nextChargeAmount: 249,
    })
    expect((await me.payments())[0]).toMatchObject({ amount: 166, creditApplied: 83 })
    expect(await me.read(getUsage)).toMatchObject({ cycleStart: '2026-11-21T00:00:00.000Z' })
  })

  test('refuses one of two concurrent cancellations', async () => {
    const me = await payer()
    const answers = await Promise.all([me.post(cancelSubscription), me.post(cancelSubscription)])
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409])
  })

  test('a trial keeps its days', async () => {
    await startAt(app, begun)
    const me = await billed(app)
    expect((await me.post(cancelSubscription)).body).toMatchObject({
      status: 'cancelled',
      endsAt: '2026-11-15T00:00:00.000Z',
    })
    await moveTo('2026-11-15T00:00:00.000Z')
    expect((await me.read(getSubscription)).status).toBe('ended')
    expect(await me.read(getTrial)).toMatchObject({ isTrial: false, isExpired: true })
  })

  test('ends a past-due or paused subscription at once', async () => {
    const me = await payer({ planId: 'growth' }, 'declinesLater')
    await moveTo(due)
    expect((await me.post(cancelSubscription)).body).toMatchObject({
      status: 'ended',
      endsAt: due,
      canWrite: false,
    })
    const other = await payer({ planId: 'growth' }, 'chargedBack')
    await moveTo('2026-11-02T00:00:00.000Z')
    expect((await other.post(cancelSubscription)).body).toMatchObject({ status: 'ended', pauseReason: null })
    await app.drainJobs()
    expect(await other.read(getPreApproval)).toMatchObject({ status: 'cancelled' })
  })
})

test('a trial ends by time alone, without a job', async () => {
  await startAt(app, begun)
  const me = await billed(app)
  const notice = async () => (await me.notices()).filter((type) => type.startsWith('trial-'))
  await moveTo('2026-11-11T23:59:59.999Z')
  expect(await notice()).toEqual([])
  await moveTo('2026-11-12T00:01:00.000Z')
  await moveTo('2026-11-12T00:03:00.000Z')
  expect(await notice()).toEqual(['trial-ending'])
  await moveTo('2026-11-14T00:03:00.000Z')
  await moveTo('2026-11-14T12:00:00.000Z')
  expect(await notice()).toEqual(['trial-ending', 'trial-ending'])
  expect((await me.read(getTrial)).daysLeft).toBe(1)
  await app.setClock('2026-11-14T23:59:59.999Z')
  expect([await writes(me), (await me.read(getTrial)).daysLeft]).toEqual([200, 1])
  await app.setClock('2026-11-15T00:00:00.000Z')
  expect(await writes(me)).toBe(403)
  expect(await me.read(getSubscription)).toMatchObject({ status: 'ended', canWrite: false, planId: 'trial' })
  expect(await me.read(getTrial)).toMatchObject({ isTrial: false, daysLeft: 0, isExpired: true })
  await app.drainJobs()
  expect(await notice()).toEqual(['trial-ending', 'trial-ending', 'trial-ended'])
})
