/**
 * Lost hooks (subscription, rules 3, 7, 11 and 12): of replaced or ended agreements and of old payments; and decisions while
 * a renewal is unknown.
 */

import { afterAll, describe, expect, test } from 'vitest'
import cancelSubscription from '#operations/subscription/billing/api/cancel-subscription'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import { reconcile } from '#operations/subscription/billing/reconcile'
import { storesToReconcile, tick } from '#operations/subscription/billing/tick'
import type { BillingEvent } from '#operations/subscription/provider/port'
import { getSandboxBilling } from '#operations/subscription/provider/sandbox'
import { parseHook, signHook } from '#operations/subscription/provider/sandbox-hooks'
import getPreApproval from '#operations/subscription/reads/api/get-pre-approval'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import { SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { deriveKey } from '#runtime/secrets'
import { billingStandIn } from '#test/ports/billing-stand-in'
import { type TestApp, testApp } from '#test/support/app'
import { type Billed, billed, cards, payer as payerOf, startAt } from '#test/support/subscriber'
import { frozenClock } from '#test/support/test-clock'

const app = await testApp()
const sandbox = getSandboxBilling(app.services.adapters.billing)
const hookSecret = deriveKey(app.services.settings.secretKey, 'sandbox-billing').toString('hex')
const begun = '2026-11-01T00:00:00.000Z'
const due = '2026-12-01T00:00:00.000Z'
const justAfter = '2026-12-01T00:00:10.000Z'

const payer = (body: Record<string, unknown> = { planId: 'starter' }, card?: 'declinesLater') =>
  payerOf(app, body, card)

/** Takes the pending hooks without delivering them. */
async function loseHooks(me: Billed): Promise<BillingEvent[]> {
  const lost: BillingEvent[] = []
  for await (const { headers, body } of sandbox.undelivered(me.shop.id)) {
    lost.push(...parseHook(hookSecret, headers, body))
  }
  return lost
}
async function deliver(event: BillingEvent): Promise<void> {
  const { headers, body } = signHook(hookSecret, [event])
  const address = 'http://localhost/hooks/billing/sandbox'
  const request = new Request(address, { method: 'POST', headers, body: Buffer.from(body) })
  expect((await app.fetch(request, { ip: '127.0.0.1' })).status).toBe(200)
  await app.drainJobs()
}

/** Advances a day and reconciles the store if it is due. */
async function nextDay(on: TestApp, me: Billed): Promise<boolean> {
  const system = new SystemContext(on.services, on.services.log, 'test')
  await on.setClock(new Date(on.clock.ms() + dayMs))
  await tick(system, new AbortController().signal)
  const stores = await storesToReconcile(system).execute()
  const isLookedAt = stores.some((each) => each.store_id === me.shop.id)
  if (isLookedAt) await reconcile(await me.shop.context())
  await on.drainJobs()
  return isLookedAt
}

const paidThere = async (me: Billed): Promise<string[]> => {
  const rows = await app.database.query<{ id: string }>(
    'select id from sandbox_payments where store_id = $1 order by position',
    [me.shop.id],
  )
  return rows.map((each) => each.id)
}

describe('an agreement that was replaced', () => {
  test('its last renewal charge is refunded', async () => {
    const me = await payer()
    await app.setClock('2026-11-30T23:00:00.000Z')
    const { body } = await me.post(updatePlan, { planId: 'growth', billingCycle: 'yearly' })
    await app.setClock(justAfter)
    await sandbox.runDue()
    await loseHooks(me)
    expect(await me.pay(body.checkout.checkoutUrl)).toBe(303)
    await app.drainJobs()
    await nextDay(app, me)
    expect(await me.payments()).toMatchObject([
      { status: 'approved', kind: 'subscription' },
      { status: 'refunded', amount: 99 },
      { status: 'approved', amount: 99 },
    ])
    expect(await me.notices()).toContain('payment-refunded')
  })
})

test('an ended subscription is reconciled daily while it can be refunded, and no longer', async () => {
  const me = await payer({ planId: 'scale', billingCycle: 'yearly' })
  await app.setClock('2026-11-02T00:00:00.000Z')
  await me.post(cancelSubscription)
  await me.subscribe({ planId: 'starter' })
  await app.drainJobs()
  await me.post(cancelSubscription)
  await app.setClock('2026-12-03T00:00:00.000Z')
  expect((await me.read(getSubscription)).status).toBe('ended')
  expect(await nextDay(app, me)).toBe(true)
  const [first] = await paidThere(me)
  await sandbox.refund(first!)
  await loseHooks(me)
  expect(await nextDay(app, me)).toBe(true)
  expect(await me.read(getSubscription)).toMatchObject({ status: 'ended', creditBalance: 0 })
  const system = new SystemContext(app.services, app.services.log, 'test')
  const looked = async () =>
    (await storesToReconcile(system).execute()).some((each) => each.store_id === me.shop.id)
  expect(await looked()).toBe(false)
  await app.setClock(new Date(app.clock.ms() + 2 * dayMs))
  expect(await looked()).toBe(true)
  await app.setClock(new Date(app.clock.ms() + 250 * dayMs))
  expect(await looked()).toBe(false)
})

describe('a renewal whose hook was lost', () => {
  test('an upgrade asks the provider about the charge before it is priced', async () => {
    const me = await payer()
    await app.setClock(justAfter)
    await sandbox.runDue()
    await loseHooks(me)
    const { status, body } = await me.post(updatePlan, { planId: 'scale' })
    expect([status, body.outcome]).toEqual([200, 'applied'])
    expect(body.proration.amountDue).toBeGreaterThan(699)
    await app.drainJobs()
    expect(await me.payments()).toMatchObject([{ kind: 'proration' }, { amount: 99 }, { amount: 99 }])
  })

  test('an upgrade waits if the provider has not charged or does not answer', async () => {
    const me = await payer()
    await app.setClock(justAfter)
    for (const mode of ['up', 'down'] as const) {
      await me.mode(mode)
      expect((await me.post(updatePlan, { planId: 'scale', preview: true })).status).toBe(409)
      expect((await me.post(updatePlan, { planId: 'scale' })).status).toBe(409)
    }
    await me.mode('up')
    await app.drainJobs()
    expect((await me.post(updatePlan, { planId: 'scale' })).status).toBe(200)
  })

  test('a cancellation keeps the charged period', async () => {
    const me = await payer()
    await app.setClock(justAfter)
    await sandbox.runDue()
    await loseHooks(me)
    const { body } = await me.post(cancelSubscription)
    expect(body).toMatchObject({ status: 'cancelled', endsAt: '2027-01-01T00:00:00.000Z' })
  })

  test('a period is worth what was paid for it, even if that is less than owed', async () => {
    const me = await payer()
    await me.mode('down')
    await app.setClock(justAfter)
    await me.mode('up')
    await app.database.query("update sandbox_agreements set amount = '40.00' where store_id = $1", [
      me.shop.id,
    ])
    await app.drainJobs()
    await me.post(cancelSubscription)
    await me.subscribe({ planId: 'growth' })
    expect(await me.payments()).toMatchObject([{ amount: 209 }, { amount: 40 }, { amount: 99 }])
  })
})

describe('an ended agreement whose event precedes its last charge', () => {
  test.each(['paused', 'cancelled'] as const)(
    '%s after a renewal, the subscription continues to the end of the paid period',
    async (as) => {
      const me = await payer()
      await app.setClock(justAfter)
      await sandbox.runDue()
      await sandbox.changeByPayer(me.shop.id, as)
      const [renewal, end] = await loseHooks(me)
      await deliver(end!)
      await deliver(renewal!)
      const end2 = '2027-01-01T00:00:00.000Z'
      expect(await me.read(getSubscription)).toMatchObject(
        as === 'paused'
          ? { status: 'active', currentPeriodStart: due, pausedAt: end2, pauseReason: 'provider' }
          : { status: 'cancelled', currentPeriodStart: due, endsAt: end2 },
      )
      await app.setClock('2027-02-01T00:00:00.000Z')
      expect((await me.read(getSubscription)).canWrite).toBe(false)
    },
  )

  test.each(['paused', 'cancelled'] as const)(
    '%s after a successful retry, the subscription does not continue unpaid',
    async (as) => {
      const me = await payer({ planId: 'starter' }, 'declinesLater')
      await app.setClock(justAfter)
      await app.drainJobs()
      expect((await me.read(getSubscription)).status).toBe('past-due')
      await app.database.query(
        `update sandbox_agreements set card = card || '{"last4":"4242"}' where store_id = $1`,
        [me.shop.id],
      )
      await app.setClock('2026-12-02T00:00:10.000Z')
      await sandbox.runDue()
      await sandbox.changeByPayer(me.shop.id, as)
      const [retry, end] = await loseHooks(me)
      expect(retry?.data.payment?.status).toBe('approved')
      await deliver(end!)
      await deliver(retry!)
      await app.setClock('2027-01-01T00:00:01.000Z')
      const { status } = await me.read(getSubscription)
      expect(status).toBe(as === 'paused' ? 'paused' : 'ended')
    },
  )

  test('a pending pause is dropped once the event of the retry arrives', async () => {
    const me = await payer({ planId: 'starter' }, 'declinesLater')
    await app.setClock(justAfter)
    await app.drainJobs()
    await app.database.query(
      `update sandbox_agreements set card = card || '{"last4":"4242"}' where store_id = $1`,
      [me.shop.id],
    )
    await app.setClock('2026-12-06T00:00:10.000Z')
    await sandbox.runDue()
    const [retry] = await loseHooks(me)
    await me.mode('down')
    await app.setClock('2026-12-08T00:00:10.000Z')
    await tick(new SystemContext(app.services, app.services.log, 'test'), new AbortController().signal)
    await app.database.query(`delete from pgboss.job where data->>'job' = $1`, ['billing-reconcile'])
    await me.mode('up')
    await deliver(retry!)
    await reconcile(await me.shop.context())
    expect((await me.read(getSubscription)).pausedAt).toBe(null)
    expect((await me.read(getPreApproval)).status).toBe('authorized')
  })
})

describe('a charge whose event precedes its checkout', () => {
  async function early(): Promise<{ me: Billed; renewal: BillingEvent }> {
    await startAt(app, begun)
    const me = await billed(app)
    const { body } = await me.post(createPreapproval, { planId: 'growth' })
    const form = { cardNumber: cards.good, holder: 'Olivia', expMonth: '12', expYear: '2089' }
    await sandbox.pay(new URL(body.checkoutUrl).pathname.split('/').at(-1)!, form)
    await loseHooks(me)
    await app.setClock(justAfter)
    await sandbox.runDue()
    const [renewal] = await loseHooks(me)
    return { me, renewal: renewal! }
  }

  test('waits for it, and both periods are applied', async () => {
    const { me, renewal } = await early()
    await deliver(renewal)
    await app.advance(60_000)
    await app.drainJobs()
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      currentPeriodStart: due,
      nextChargeAt: '2027-01-01T00:00:00.000Z',
    })
    expect(await me.payments()).toMatchObject([{ status: 'approved' }, { status: 'approved' }])
    expect(await me.notices()).not.toContain('payment-refunded')
  })

  test('is refunded after an hour without an event of its checkout', async () => {
    const { me, renewal } = await early()
    const gone = 'delete from sandbox_billing_events where store_id = $1'
    await app.database.query(gone, [me.shop.id])
    await deliver(renewal)
    expect(await me.payments()).toEqual([])
    for (const hours of [2, 1]) {
      await app.advance(hours * 3_600_000)
      await app.drainJobs()
    }
    expect(await me.payments()).toMatchObject([{ status: 'refunded', amount: 249 }])
  })
})

test('a renewal is refunded if its whole period passed without access before its event came', async () => {
  const me = await payer()
  await app.setClock(justAfter)
  await sandbox.runDue()
  const [renewal] = await loseHooks(me)
  await app.database.query(
    "update sandbox_agreements set status = 'cancelled', next_try_at = null where store_id = $1",
    [me.shop.id],
  )
  const row = "status = 'ended', cancelled_at = $2, ends_at = $2, agreement_status = 'cancelled'"
  await app.database.query(`update subscriptions set ${row} where store_id = $1`, [me.shop.id, justAfter])
  await app.setClock('2027-01-02T00:00:00.000Z')
  await deliver(renewal!)
  expect((await me.payments())[0]).toMatchObject({ status: 'refunded', amount: 99 })
})

describe('at Mercado Pago', async () => {
  const account = { accessToken: 'APP_USR-1234', webhookSecret: 'a webhook secret' }
  const clock = frozenClock()
  const standIn = await billingStandIn(account, clock)
  afterAll(() => standIn.close())
  const secret = encodeURIComponent(account.webhookSecret)
  const { host } = new URL(standIn.endpoint)
  const there = await testApp(
    { billingUrl: `mercadopago://${account.accessToken}:${secret}@${host}?tls=off` },
    { clock },
  )

  test('a refund of a weeks-old payment is found although its invoice did not change', async () => {
    await startAt(there, begun)
    const me = await billed(there)
    const { body } = await me.post(createPreapproval, { planId: 'growth' })
    const id = new URL(body.checkoutUrl).searchParams.get('preapproval_id')!
    standIn.pay(id, 'good')
    standIn.notifications()
    await nextDay(there, me)
    expect((await me.read(getSubscription)).status).toBe('active')
    const [payment] = await there.database.query<{ id: string }>(
      'select provider_payment_id as id from payments where store_id = $1',
      [me.shop.id],
    )
    for (let day = 0; day < 4; day += 1) await nextDay(there, me)
    standIn.refundPart(payment!.id, 10)
    standIn.notifications()
    await nextDay(there, me)
    const [known] = await there.database.query('select refunded from payments where store_id = $1', [
      me.shop.id,
    ])
    expect(known).toEqual({ refunded: '10.00' })
    expect(await me.notices()).toContain('payment-refunded')
  })

  test('a refused refund is retried under new keys until it succeeds', async () => {
    await startAt(there, begun)
    const me = await billed(there)
    const { body } = await me.post(createPreapproval, { planId: 'growth' })
    const id = new URL(body.checkoutUrl).searchParams.get('preapproval_id')!
    await me.post(createPreapproval, { planId: 'scale' })
    standIn.pay(id, 'good')
    standIn.refuseRefunds(true)
    await nextDay(there, me)
    const refunds = () => standIn.requests.filter((each) => each.endsWith('/refunds')).length
    const before = refunds()
    expect(before).toBeGreaterThan(0)
    standIn.refuseRefunds(false)
    await nextDay(there, me)
    expect(new Set(standIn.keys.slice(-2)).size).toBe(2)
    const done = refunds()
    await nextDay(there, me)
    expect([done > before, refunds()]).toEqual([true, done])
    // Its result arrives although there is no current agreement.
    expect(await me.payments()).toMatchObject([{ status: 'refunded', amount: 249 }])
  })
})
