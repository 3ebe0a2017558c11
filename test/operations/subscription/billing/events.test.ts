/** Provider events that come twice, late and out of order (subscription, rule 3), and interrupted calls. */

import { describe, expect, test } from 'vitest'
import cancelSubscription from '#operations/subscription/billing/api/cancel-subscription'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import { applyBillingEvent } from '#operations/subscription/billing/events'
import type { Agreement, BillingEventData, ProviderPayment } from '#operations/subscription/provider/port'
import getPreApproval from '#operations/subscription/reads/api/get-pre-approval'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import { hourMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import type { Answer } from '#test/support/store'
import { type Billed, payer as payerOf } from '#test/support/subscriber'
import { unusedAt } from '#test/support/subscription-world'

const app = await testApp()
const due = '2026-12-01T00:00:00.000Z'
const later = '2026-12-02T00:00:00.000Z'

async function payer(planId = 'growth'): Promise<Billed & { agreementId: string }> {
  const me = await payerOf(app, { planId })
  const { id } = await me.read(getPreApproval)
  // These tests set the provider's clock.
  await app.database.query('update sandbox_agreements set next_try_at = null where id = $1', [id])
  return { ...me, agreementId: id }
}

let payments = 0
function payment(agreementId: string, change: Partial<ProviderPayment> = {}): ProviderPayment {
  payments += 1
  const createdAt = change.createdAt ?? due
  return {
    id: `sp_test_${process.pid}_${payments}`,
    agreementId,
    checkoutId: null,
    idempotencyKey: null,
    status: 'approved',
    amount: '249.00',
    currency: 'BRL',
    dueAt: due,
    attempt: 1,
    failureReason: null,
    paymentMethod: null,
    receiptUrl: null,
    createdAt,
    updatedAt: createdAt,
    ...change,
  }
}

async function tell(
  me: Billed,
  kind: 'payment' | 'agreement' | 'checkout',
  occurredAt: string,
  data: Partial<BillingEventData>,
): Promise<void> {
  const ctx = await me.shop.context()
  const whole: BillingEventData = {
    agreementId: data.payment?.agreementId ?? data.agreement?.id ?? null,
    checkoutId: null,
    paymentId: data.payment?.id ?? null,
    outcome: null,
    failureReason: null,
    payment: null,
    agreement: null,
    ...data,
  }
  await ctx.transaction((tx) =>
    applyBillingEvent(tx, kind, { provider: 'sandbox', occurredAt: new Date(occurredAt), data: whole }),
  )
}
const pays = (me: Billed, given: ProviderPayment) => tell(me, 'payment', given.updatedAt, { payment: given })
const agreementOf = (me: Billed & { agreementId: string }, status: Agreement['status']): Agreement => ({
  id: me.agreementId,
  provider: 'sandbox',
  status,
  reason: 'Growth, monthly',
  payerEmail: me.shop.email,
  amount: '249.00',
  currency: 'BRL',
  frequency: 1,
  frequencyType: 'months',
  startsAt: null,
  nextPaymentAt: null,
  paymentMethod: null,
  checkoutUrl: null,
})

describe('out of order', () => {
  test('a retry whose event precedes that of the failure leaves the subscription active', async () => {
    const me = await payer()
    await app.setClock('2026-12-03T00:00:00.000Z')
    const failure = payment(me.agreementId, { status: 'rejected', failureReason: 'card-declined' })
    const retry = payment(me.agreementId, { attempt: 2, createdAt: later })
    await pays(me, retry)
    const after = await me.read(getSubscription)
    expect(after).toMatchObject({ status: 'active', currentPeriodStart: due, graceEndsAt: null })
    await pays(me, failure)
    await pays(me, retry)
    await pays(me, failure)
    expect(await me.read(getSubscription)).toEqual(after)
    expect((await me.payments()).map((each) => each.status)).toEqual(['approved', 'rejected', 'approved'])
    expect(await me.notices()).not.toContain('payment-failed')
  })

  test('grace counts from the first failure, even if the event of the second comes first', async () => {
    const me = await payer()
    await app.setClock(later)
    const rejected = { status: 'rejected' as const }
    await pays(me, payment(me.agreementId, { ...rejected, attempt: 2, createdAt: later }))
    expect((await me.read(getSubscription)).graceEndsAt).toBe('2026-12-09T00:00:00.000Z')
    await pays(me, payment(me.agreementId, rejected))
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'past-due',
      graceEndsAt: '2026-12-08T00:00:00.000Z',
    })
  })

  test('two renewals in reverse order never move the period back', async () => {
    const me = await payer()
    await app.setClock('2027-01-02T00:00:00.000Z')
    const second = '2027-01-01T00:00:00.000Z'
    await pays(me, payment(me.agreementId, { dueAt: second, createdAt: second }))
    await pays(me, payment(me.agreementId))
    expect(await me.read(getSubscription)).toMatchObject({ status: 'active', currentPeriodStart: second })
    expect(await me.payments()).toHaveLength(3)
  })

  test('an older event of a payment changes nothing', async () => {
    const me = await payer()
    await app.setClock('2026-12-03T00:00:00.000Z')
    const paid = payment(me.agreementId, { updatedAt: later })
    await pays(me, { ...paid, status: 'refunded' })
    await pays(me, { ...paid, status: 'approved', updatedAt: due })
    await pays(me, { ...paid, status: 'approved' })
    expect((await me.payments())[0]).toMatchObject({ status: 'refunded' })
  })

  test('a partial refund is applied once, whenever and however often its event comes', async () => {
    const half = '2026-12-16T12:00:00.000Z'
    const deliverInOrder = async (...order: ('paid' | 'part' | 'more')[]) => {
      const me = await payer()
      await app.setClock(half)
      const paid = payment(me.agreementId)
      const news = {
        paid,
        part: { ...paid, refundedAmount: '50.00', updatedAt: later },
        more: { ...paid, refundedAmount: '80.00', updatedAt: half },
      }
      for (const each of order) await pays(me, news[each])
      const row = await (await me.shop.context()).db
        .selectFrom('subscriptions')
        .selectAll()
        .executeTakeFirstOrThrow()
      return { me, paid, unused: unusedAt(row, new Date(half)) }
    }
    // Half of December's 249.00 is used: 124.50 remain, 44.50 after a refund of 80.00.
    for (const order of [
      ['paid', 'part', 'more'],
      ['part', 'paid', 'part', 'more', 'more'],
      ['more', 'part', 'paid'],
      ['paid', 'more', 'paid'],
    ] as const) {
      const { me, unused } = await deliverInOrder(...order)
      expect([order, unused, (await me.read(getSubscription)).status]).toEqual([order, 4450n, 'active'])
    }
    const { me, paid } = await deliverInOrder('paid', 'more')
    expect(await me.notices()).toContain('payment-refunded')
    expect((await me.payments())[0]).toMatchObject({ status: 'approved', amount: 249 })
    // More than the rest of the period is worth: the period ends, as after a full refund.
    await pays(me, { ...paid, refundedAmount: '130.00', updatedAt: half })
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'paused',
      pauseReason: 'provider',
      creditBalance: 0,
    })
    // A full refund after a partial one takes nothing twice.
    const { me: other, paid: whole } = await deliverInOrder('paid', 'more')
    await pays(other, { ...whole, status: 'refunded', updatedAt: half })
    expect(await other.read(getSubscription)).toMatchObject({ status: 'paused', creditBalance: 0 })
    expect((await other.payments())[0]).toMatchObject({ status: 'refunded' })
  })

  test('an old event, and an event of a replaced agreement, change nothing', async () => {
    const me = await payer()
    await app.setClock('2026-11-05T00:00:00.000Z')
    await tell(me, 'agreement', '2026-11-04T00:00:00.000Z', { agreement: agreementOf(me, 'authorized') })
    await tell(me, 'agreement', '2026-11-03T00:00:00.000Z', { agreement: agreementOf(me, 'paused') })
    expect(await me.read(getSubscription)).toMatchObject({ status: 'active', pausedAt: null })
    const other = { ...agreementOf(me, 'cancelled'), id: 'sa_another' }
    await tell(me, 'agreement', '2026-11-05T00:00:00.000Z', { agreement: other })
    expect((await me.read(getSubscription)).status).toBe('active')
    await tell(me, 'agreement', '2026-11-05T00:00:00.000Z', { agreement: agreementOf(me, 'paused') })
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      pausedAt: due,
      pauseReason: 'provider',
    })
    await tell(me, 'agreement', '2026-11-05T00:00:01.000Z', { agreement: agreementOf(me, 'authorized') })
    expect(await me.read(getSubscription)).toMatchObject({
      pausedAt: null,
      pauseReason: null,
      nextChargeAmount: 249,
    })
  })
})

describe('late', () => {
  test('a renewal that was paid before the cancellation gives access to its end', async () => {
    const me = await payer()
    await app.setClock('2026-12-01T00:10:00.000Z')
    expect((await me.post(cancelSubscription)).body).toMatchObject({ status: 'ended', endsAt: due })
    await pays(me, payment(me.agreementId, { createdAt: '2026-12-01T00:05:00.000Z' }))
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'cancelled',
      canWrite: true,
      endsAt: '2027-01-01T00:00:00.000Z',
    })
  })

  test('a renewal that was charged after the cancellation is refunded', async () => {
    const me = await payer()
    await me.post(cancelSubscription)
    await app.setClock('2026-12-02T00:00:00.000Z')
    await pays(me, payment(me.agreementId, { createdAt: later }))
    expect((await me.read(getSubscription)).status).toBe('ended')
    expect(await me.notices()).toContain('payment-refunded')
    const tasks = await app.database.query<{ kind: string; key: string }>(
      `select kind from billing_intents where store_id = $1 and kind = 'refund'`,
      [me.shop.id],
    )
    expect(tasks).toHaveLength(1)
  })

  test('a retry within the grace reactivates the subscription, even if its event comes later', async () => {
    const me = await payer()
    await app.setClock(due)
    await pays(me, payment(me.agreementId, { status: 'rejected' }))
    await app.setClock('2026-12-09T00:00:00.000Z')
    await app.drainJobs()
    expect((await me.read(getSubscription)).status).toBe('paused')
    await pays(me, payment(me.agreementId, { attempt: 4, createdAt: '2026-12-06T00:00:00.000Z' }))
    await app.advance(hourMs)
    await app.drainJobs()
    // We had paused its agreement, and nobody resumes it: this period is the last.
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      currentPeriodStart: due,
      pausedAt: '2027-01-01T00:00:00.000Z',
    })
    expect(await me.notices()).toContain('agreement-changed')
  })

  test('an overpayment becomes credit', async () => {
    const me = await payer()
    await app.setClock(due)
    await pays(me, payment(me.agreementId, { amount: '260.10' }))
    expect(await me.read(getSubscription)).toMatchObject({ creditBalance: 11.1, nextChargeAmount: 237.9 })
    await app.drainJobs()
    expect(await me.read(getPreApproval)).toMatchObject({ amount: 237.9 })
  })
})

describe('half-way', () => {
  const never = () => new Promise<never>(() => {})
  const port = app.services.adapters.billing.sandbox! as unknown as Record<string, unknown>
  /** The worker dies once the provider has answered. */
  async function dying(
    method: 'cancelAgreement' | 'chargeNow' | 'updateAgreement',
    work: () => Promise<unknown>,
  ) {
    const real = (port[method] as (...given: unknown[]) => Promise<unknown>).bind(port)
    let answered: () => void = () => {}
    const isAnswered = new Promise<void>((resolve) => {
      answered = resolve
    })
    port[method] = async (...given: unknown[]) => {
      await real(...given)
      answered()
      return never()
    }
    void work()
    await isAnswered
    port[method] = real
  }

  const wayOut = [
    ['the worker dies', 'dies'],
    ['the answer is lost', 'timeout'],
  ] as const
  describe.each(wayOut)('%s after the provider did it', (_name, way) => {
    async function interrupted(me: Billed, method: Parameters<typeof dying>[0], ask: () => Promise<Answer>) {
      if (way === 'dies') {
        await dying(method, ask)
        await app.advance(61_000)
        return app.drainJobs()
      }
      await me.mode('timeout')
      expect((await ask()).status).toBe(503)
      await me.mode('up')
      await app.drainJobs()
    }

    test('a cancellation is completed, once', async () => {
      const me = await payer()
      await interrupted(me, 'cancelAgreement', () => me.post(cancelSubscription, { reason: 'switched' }))
      expect(await me.read(getSubscription)).toMatchObject({
        status: 'cancelled',
        cancelReason: 'switched',
        endsAt: due,
      })
      expect((await me.post(cancelSubscription)).status).toBe(409)
    })

    test('an upgrade is applied and charged once', async () => {
      const me = await payer('starter')
      await app.setClock('2026-11-11T00:00:00.000Z')
      await interrupted(me, 'chargeNow', () => me.post(updatePlan, { planId: 'growth' }))
      expect(await me.read(getSubscription)).toMatchObject({ planId: 'growth', nextChargeAmount: 249 })
      expect((await me.payments()).map((each) => each.amount)).toEqual([100, 99])
      expect(await me.read(getPreApproval)).toMatchObject({ amount: 249 })
    })

    test('a downgrade is scheduled', async () => {
      const me = await payer()
      await interrupted(me, 'updateAgreement', () => me.post(updatePlan, { planId: 'starter' }))
      expect(await me.read(getSubscription)).toMatchObject({
        scheduledChange: { planId: 'starter' },
        nextChargeAmount: 99,
      })
    })
  })

  test('until it is reconciled, nothing has changed and another request is refused', async () => {
    const me = await payer()
    await dying('cancelAgreement', () => me.post(cancelSubscription))
    expect((await me.read(getSubscription)).status).toBe('active')
    expect((await me.post(cancelSubscription)).status).toBe(409)
  })

  test('a change that was never sent is dropped and can be requested again', async () => {
    const me = await payer()
    const real = port.cancelAgreement
    port.cancelAgreement = never
    void me.post(cancelSubscription)
    await expect
      .poll(
        async () =>
          (await app.database.query('select 1 from billing_intents where store_id = $1', [me.shop.id]))
            .length,
      )
      .toBe(1)
    port.cancelAgreement = real
    await app.advance(61_000)
    await app.drainJobs()
    expect((await me.read(getSubscription)).status).toBe('active')
    expect((await me.post(cancelSubscription)).status).toBe(200)
  })
})
