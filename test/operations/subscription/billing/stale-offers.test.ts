/** Outdated offers, reversed payments, and agreements ended by the payer: regressions found by the model test. */

import { describe, expect, test } from 'vitest'
import * as metering from '#operations/store/quota/metering'
import cancelSubscription from '#operations/subscription/billing/api/cancel-subscription'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import resumeSubscription from '#operations/subscription/billing/api/resume-subscription'
import updateCard from '#operations/subscription/billing/api/update-card'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import validateCoupon from '#operations/subscription/billing/api/validate-coupon'
import type { SandboxBilling } from '#operations/subscription/provider/sandbox'
import getCheckoutResult from '#operations/subscription/reads/api/get-checkout-result'
import getPreApproval from '#operations/subscription/reads/api/get-pre-approval'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import {
  type Billed,
  billed,
  type CardName,
  cards,
  moveTo as moveToOf,
  payer as payerOf,
  startAt,
} from '#test/support/subscriber'

const app = await testApp()
const sandbox = app.services.adapters.billing.sandbox as SandboxBilling
const begun = '2026-11-01T00:00:00.000Z'
const due = '2026-12-01T00:00:00.000Z'

const payer = (body: Record<string, unknown>, card?: CardName) => payerOf(app, body, card)
const moveTo = (at: string) => moveToOf(app, at)
/** The payer pays on a page that is not closed at the provider yet. */
async function payBehind(me: Billed, url: string): Promise<void> {
  const id = new URL(url).pathname.split('/').at(-1)!
  const { query } = app.database
  await query(`update sandbox_checkouts set status = 'open' where id = $1`, [id])
  await query(`update sandbox_agreements set status = 'pending' where id = $1`, [id])
  expect(await me.pay(url)).toBe(303)
  await app.drainJobs()
  await app.advance(60_000)
  await app.drainJobs()
}
async function chargeBack(me: Billed, nth = 0): Promise<void> {
  const rows = await app.database.query<{ id: string }>(
    `select id from sandbox_payments where store_id = $1 and status = 'approved' and amount > 0 order by position`,
    [me.shop.id],
  )
  await app.database.query('update sandbox_payments set charge_back_at = $2 where id = $1', [
    rows[nth]!.id,
    app.clock.now(),
  ])
  await app.advance(60_000)
  await app.drainJobs()
}
const statuses = async (me: Billed) => (await me.payments()).map((each) => each.status)

describe('a checkout left open', () => {
  test('is closed by an upgrade, here and at the provider', async () => {
    const me = await payer({ planId: 'starter' })
    const { body } = await me.post(updatePlan, { billingCycle: 'yearly', couponCode: 'WELCOME10' })
    expect((await me.post(updatePlan, { planId: 'scale' })).body.outcome).toBe('applied')
    await app.drainJobs()
    expect(await me.open(body.checkout.checkoutUrl)).toBe(410)
    expect((await me.read(getCheckoutResult)).status).toBe('cancelled')
  })

  test('is refunded in full when it is paid anyway; plan, credit and coupon stay', async () => {
    const me = await payer({ planId: 'starter' })
    await app.setClock('2026-11-11T00:00:00.000Z')
    const { body } = await me.post(updatePlan, { billingCycle: 'yearly', couponCode: 'WELCOME10' })
    await me.post(updatePlan, { planId: 'scale', couponCode: 'WELCOME10' })
    const before = await me.read(getSubscription)
    await payBehind(me, body.checkout.checkoutUrl)
    expect(await me.read(getSubscription)).toEqual({ ...before, updatedAt: expect.any(String) })
    expect(before).toMatchObject({ planId: 'scale', coupon: { remainingCycles: 2 }, nextChargeAmount: 719.1 })
    expect(await statuses(me)).toEqual(['refunded', 'approved', 'approved'])
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'authorized', amount: 719.1 })
    expect(await me.notices()).toContain('payment-refunded')
  })

  test('is closed by a renewal, which changes its pricing basis', async () => {
    const me = await payer({ planId: 'starter' })
    await app.setClock('2026-11-30T23:00:00.000Z')
    const { body } = await me.post(updatePlan, { billingCycle: 'yearly' })
    await moveTo(due)
    expect(await me.open(body.checkout.checkoutUrl)).toBe(410)
    await payBehind(me, body.checkout.checkoutUrl)
    expect(await me.read(getSubscription)).toMatchObject({ billingCycle: 'monthly', creditBalance: 0 })
    expect(await statuses(me)).toEqual(['refunded', 'approved', 'approved'])
  })

  test('stays open while the trial ends', async () => {
    await startAt(app, begun)
    const me = await billed(app)
    await app.setClock('2026-11-14T23:00:00.000Z')
    const { body } = await me.post(createPreapproval, { planId: 'growth', couponCode: 'WELCOME10' })
    await moveTo('2026-11-15T01:00:00.000Z')
    expect((await me.read(getSubscription)).status).toBe('ended')
    expect(await me.pay(body.checkoutUrl)).toBe(303)
    expect(await me.read(getSubscription)).toMatchObject({ status: 'active', planId: 'growth' })
  })
})

describe('a reversed payment', () => {
  test('a chargeback after cancelling ends the year at once, and leaves no credit', async () => {
    const me = await payer({ planId: 'growth', billingCycle: 'yearly' })
    await app.setClock('2026-11-03T00:00:00.000Z')
    expect((await me.post(cancelSubscription)).body).toMatchObject({ status: 'cancelled', canWrite: true })
    await chargeBack(me)
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'ended',
      canWrite: false,
      creditBalance: 0,
      endsAt: '2026-11-03T00:00:00.000Z',
    })
    expect(await me.notices()).toContain('subscription-ended')
    const again = await me.post(createPreapproval, { planId: 'growth' })
    expect(again.body.amount).toBe(249)
  })

  test('a chargeback of a replaced agreement takes its credit away', async () => {
    const me = await payer({ planId: 'starter', billingCycle: 'yearly' })
    await app.setClock('2026-11-11T00:00:00.000Z')
    const { body } = await me.post(updatePlan, { planId: 'growth', billingCycle: 'monthly' })
    await me.pay(body.checkout.checkoutUrl)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({ status: 'active', creditBalance: 713.88 })
    await chargeBack(me)
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'paused',
      pauseReason: 'chargeback',
      creditBalance: 0,
    })
    await app.drainJobs()
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'paused' })
  })

  test('an old, used-up payment takes nothing from later payments', async () => {
    const me = await payer({ planId: 'starter' })
    await moveTo('2026-11-02T00:00:00.000Z')
    await me.post(cancelSubscription)
    await moveTo(due)
    await me.subscribe({ planId: 'growth' })
    await chargeBack(me)
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      planId: 'growth',
      canWrite: true,
    })
  })

  test('a chargeback whose event precedes its payment leaves nothing of it', async () => {
    await startAt(app, begun)
    const me = await billed(app)
    const { body } = await me.post(createPreapproval, { planId: 'growth' })
    const id = new URL(body.checkoutUrl).pathname.split('/').at(-1)!
    await sandbox.pay(id, { cardNumber: cards.good, holder: 'Ana', expMonth: '12', expYear: '2039' })
    const held = await app.database.query<{ id: number }>(
      `update sandbox_billing_events set delivered_at = occurred_at where store_id = $1 returning id`,
      [me.shop.id],
    )
    await app.database.query('update sandbox_payments set charge_back_at = $2 where store_id = $1', [
      me.shop.id,
      app.clock.now(),
    ])
    await sandbox.runDue()
    const { deliverSandboxHooks } = await import('#operations/subscription/checkout-pages/billing-hook')
    const { SystemContext } = await import('#runtime/context')
    const system = new SystemContext(app.services, app.services.log, 'test')
    await deliverSandboxHooks(system, me.shop.id)
    await app.database.query('update sandbox_billing_events set delivered_at = null where id = any($1)', [
      held.map((each) => each.id),
    ])
    await deliverSandboxHooks(system, me.shop.id)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({ status: 'trialing', provider: null })
    expect(await statuses(me)).toEqual(['refunded'])
    expect(await me.read(getPreApproval)).toMatchObject({ status: 'cancelled' })
  })
})

describe('actions of the payer', () => {
  test.each(['cancelled', 'paused'] as const)(
    'past due with its agreement %s, it becomes active when resumed and paid',
    async (status) => {
      const me = await payer({ planId: 'growth' }, 'declinesLater')
      await moveTo(due)
      await app.advance(60_000)
      await me.payerActs(status)
      expect(await me.read(getSubscription)).toMatchObject({
        status: 'past-due',
        canWrite: true,
        nextChargeAt: null,
      })
      for (const ask of [() => me.post(updateCard), () => me.post(updatePlan, { planId: 'scale' })]) {
        const refused = await ask()
        expect([refused.status, refused.body.error.message]).toEqual([
          409,
          `The subscription is past-due and its payment agreement ${status}: use POST /subscription/resume`,
        ])
      }
      expect((await me.post(createPreapproval, { planId: 'starter' })).status).toBe(201)
      const resumed = await me.post(resumeSubscription)
      expect([resumed.status, resumed.body.amount]).toEqual([201, 249])
      expect(await me.pay(resumed.body.checkoutUrl)).toBe(303)
      await app.drainJobs()
      expect(await me.read(getSubscription)).toMatchObject({
        status: 'active',
        graceEndsAt: null,
        nextChargeAmount: 249,
      })
      expect(await me.read(getPreApproval)).toMatchObject({ status: 'authorized' })
    },
  )

  test.each([true, false])(
    'an agreement paused while active can be resumed, whether its hook came (%s) or not',
    async (isHeard) => {
      const me = await payer({ planId: 'growth' })
      await app.advance(60_000)
      if (isHeard) await me.payerActs('paused')
      else {
        await sandbox.changeByPayer(me.shop.id, 'paused')
        await app.database.query(
          'update sandbox_billing_events set delivered_at = occurred_at where store_id = $1',
          [me.shop.id],
        )
      }
      const refused = await me.post(updateCard)
      expect([refused.status, refused.body.error.message]).toEqual([
        409,
        'The subscription is active and its payment agreement paused: use POST /subscription/resume',
      ])
      const resumed = await me.post(resumeSubscription)
      expect(resumed.body).toMatchObject({ kind: 'resume', planId: 'growth', amount: 0 })
      expect(await me.pay(resumed.body.checkoutUrl)).toBe(303)
      await app.drainJobs()
      expect(await me.read(getSubscription)).toMatchObject({
        status: 'active',
        pausedAt: null,
        currentPeriodEnd: due,
        nextChargeAt: due,
        nextChargeAmount: 249,
      })
      await moveTo(due)
      expect(await statuses(me)).toEqual(['approved', 'approved'])
    },
  )

  test('resuming keeps the scheduled change', async () => {
    const me = await payer({ planId: 'growth' })
    await me.post(updatePlan, { planId: 'starter' })
    await app.advance(60_000)
    await me.payerActs('paused')
    const { body } = await me.post(resumeSubscription)
    expect(body).toMatchObject({ planId: 'starter', amount: 0 })
    await me.pay(body.checkoutUrl)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({
      planId: 'growth',
      scheduledChange: { planId: 'starter' },
      nextChargeAmount: 99,
    })
  })

  test('resuming an active subscription is refused, whatever the provider answers', async () => {
    const me = await payer({ planId: 'growth' })
    const said = 'The subscription is active: use POST /subscription/update-plan'
    expect((await me.post(resumeSubscription)).body.error.message).toBe(said)
    await me.mode('down')
    expect((await me.post(resumeSubscription)).body.error.message).toBe(said)
    await me.mode('up')
  })
})

describe('the used quota', () => {
  const row = (sentAt: Date) => ({
    messageId: newId(app.clock.ms()),
    channel: 'messaging' as const,
    source: 'direct' as const,
    sourceId: null,
    phone: '+5511988887777',
    email: null,
    providerMessageId: null,
    status: 'sent' as const,
    sentAt,
  })

  test('carries over when cancelling and subscribing again, including reservations', async () => {
    const me = await payer({ planId: 'starter' })
    const ctx = await me.shop.context()
    const held = await metering.reserve(ctx, 5, 'direct')
    await metering.commit(ctx, held, [row(app.clock.now()), row(app.clock.now())])
    await app.setClock('2026-11-11T00:00:00.000Z')
    await me.post(cancelSubscription)
    await me.subscribe({ planId: 'starter' })
    const usage = await me.read(getUsage)
    expect(usage).toMatchObject({ cycleStart: '2026-11-11T00:00:00.000Z', limit: 1000, used: 2, reserved: 3 })
    expect(usage.bySource.find((each: { source: string }) => each.source === 'direct').used).toBe(2)
    expect(usage.daily.reduce((sum: number, each: { used: number }) => sum + each.used, 0)).toBe(2)
    await metering.commit(ctx, held, [row(app.clock.now())])
    await metering.release(ctx, held, 2)
    expect(await me.read(getUsage)).toMatchObject({ used: 3, reserved: 0, remaining: 997 })
    await moveTo('2026-12-11T00:00:00.000Z')
    expect(await me.read(getUsage)).toMatchObject({ used: 0, reserved: 0, remaining: 1000 })
  })

  test('carries over to another billing cycle; that of a trial lapses', async () => {
    await startAt(app, begun)
    const me = await billed(app)
    const ctx = await me.shop.context()
    await metering.commit(ctx, await metering.reserve(ctx, 1, 'direct'), [row(app.clock.now())])
    await app.advance(60_000)
    await me.subscribe({ planId: 'starter' })
    expect(await me.read(getUsage)).toMatchObject({ used: 0, limit: 1000 })
    await metering.commit(ctx, await metering.reserve(ctx, 1, 'direct'), [row(app.clock.now())])
    await app.setClock('2026-11-11T00:00:00.000Z')
    const { body } = await me.post(updatePlan, { billingCycle: 'yearly' })
    await me.pay(body.checkout.checkoutUrl)
    expect(await me.read(getUsage)).toMatchObject({ used: 1, cycleStart: '2026-11-11T00:00:00.000Z' })
  })
})

test('a coupon checked without a plan is valid if any plan accepts it, and lists those plans', async () => {
  await startAt(app, begun)
  const me = await billed(app)
  const asked = async (body: object) => (await me.post(validateCoupon, body)).body
  expect(await asked({ code: 'FIRST50' })).toMatchObject({
    isValid: false,
    reason: 'not-for-plan',
    planIds: [],
  })
  expect(await asked({ code: 'FIRST50', billingCycle: 'yearly' })).toMatchObject({
    isValid: true,
    planIds: null,
  })
  expect(await asked({ code: 'SCALE20' })).toMatchObject({ isValid: true, planIds: ['scale'] })
  expect(await asked({ code: 'WELCOME10' })).toMatchObject({ isValid: true, planIds: null })
})
