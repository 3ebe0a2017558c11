/** Subscriptions over a provider that can neither charge a saved card now nor charge now and begin later. */

import { afterAll, expect, test } from 'vitest'
import listNotifications from '#operations/notifications/api/list-notifications'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import resume from '#operations/subscription/billing/api/resume-subscription'
import updateCard from '#operations/subscription/billing/api/update-card'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import getPreApproval from '#operations/subscription/reads/api/get-pre-approval'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { billingStandIn } from '#test/ports/billing-stand-in'
import { testApp } from '#test/support/app'
import { type Billed, billed, startAt } from '#test/support/subscriber'
import { frozenClock } from '#test/support/test-clock'

const account = { accessToken: 'APP_USR-1234', webhookSecret: 'a webhook secret' }
const clock = frozenClock()
const standIn = await billingStandIn(account, clock)
afterAll(() => standIn.close())
const { host } = new URL(standIn.endpoint)
const secret = encodeURIComponent(account.webhookSecret)
const billingUrl = `mercadopago://${account.accessToken}:${secret}@${host}?tls=off`
const app = await testApp({ billingUrl }, { clock })

const idOf = (checkoutUrl: string): string => new URL(checkoutUrl).searchParams.get('preapproval_id')!

/** Sends all pending events of the provider through the hook. */
async function deliver(): Promise<number[]> {
  const statuses: number[] = []
  for (const { headers, body } of standIn.notifications()) {
    const request = new Request('http://localhost/hooks/billing/mercadopago', {
      method: 'POST',
      headers,
      body,
    })
    statuses.push((await app.fetch(request, { ip: '127.0.0.1' })).status)
  }
  await app.drainJobs()
  return statuses
}

async function pays(checkoutUrl: string): Promise<void> {
  standIn.pay(idOf(checkoutUrl), 'good')
  expect(new Set(await deliver())).toEqual(new Set([200]))
}

async function payer(): Promise<Billed> {
  await startAt(app, '2026-11-01T00:00:00.000Z')
  const me = await billed(app)
  const created = await me.post(createPreapproval, { planId: 'starter' })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  await pays(created.body.checkoutUrl)
  expect(await me.read(getSubscription)).toMatchObject({
    status: 'active',
    planId: 'starter',
    provider: 'mercadopago',
  })
  return me
}

test('the payer is the store’s preference, checked before the redirect and answered later', async () => {
  await startAt(app, '2026-11-01T00:00:00.000Z')
  const me = await billed(app)
  const prefer = (payerEmail: unknown) =>
    app.database.root
      .updateTable('stores')
      .set({ preferences: JSON.stringify(payerEmail === null ? {} : { payerEmail }) })
      .where('id', '=', me.shop.id)
      .execute()
  await prefer('not an address')
  const refused = await me.post(createPreapproval, { planId: 'starter' })
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'The preference payerEmail of the store is no email address: change it by PATCH /store',
  ])
  await prefer('payer@mercado.example')
  expect((await me.post(createPreapproval, { planId: 'starter' })).status).toBe(201)
  expect(standIn.bodies.at(-1)).toMatchObject({ payer_email: 'payer@mercado.example' })
  await prefer(null)
  // The provider answers an empty email.
  expect((await me.read(getPreApproval)).payerEmail).toBe('payer@mercado.example')
  const own = await me.post(createPreapproval, { planId: 'starter' })
  expect(own.status).toBe(201)
  expect((await me.read(getPreApproval)).payerEmail).toBe(
    standIn.bodies.findLast(({ payer_email: each }) => each)!.payer_email,
  )
})

test('an upgrade within the cycle is a checkout whose payment begins a new period', async () => {
  const me = await payer()
  const old = (await me.read(getPreApproval)).id
  await app.setClock('2026-11-11T00:00:00.000Z')
  const wanted = { planId: 'growth' }
  const preview = await me.post(updatePlan, { ...wanted, preview: true })
  // Two thirds of 99.00 are unused; the next month is paid in full.
  const proration = { credit: 66, charge: 249, amountDue: 183, currency: 'BRL' }
  expect(preview.body).toMatchObject({ outcome: 'checkout-required', checkout: null, proration })
  const { status, body } = await me.post(updatePlan, wanted)
  expect([status, body.outcome, body.proration]).toEqual([200, 'checkout-required', proration])
  expect(body.checkout).toMatchObject({ amount: 183, kind: 'update-plan' })
  expect(await me.read(getSubscription)).toMatchObject({ planId: 'starter', nextChargeAmount: 99 })

  await pays(body.checkout.checkoutUrl)
  expect(await me.read(getSubscription)).toMatchObject({
    status: 'active',
    planId: 'growth',
    creditBalance: 0,
    currentPeriodStart: '2026-11-11T00:00:00.000Z',
    currentPeriodEnd: '2026-12-11T00:00:00.000Z',
    nextChargeAmount: 249,
  })
  expect(await me.read(getUsage)).toMatchObject({ cycleStart: '2026-11-11T00:00:00.000Z', limit: 10_000 })
  // Created with the first amount, then updated to the recurring one; the old agreement is cancelled.
  expect(await me.read(getPreApproval)).toMatchObject({ amount: 249, status: 'authorized' })
  const { mercadopago } = app.services.adapters.billing
  expect((await mercadopago!.getAgreement(old)).status).toBe('cancelled')
  expect((await me.payments()).map((each) => each.amount)).toEqual([183, 99])
})

test('a downgrade within the cycle updates the agreement at once and needs no checkout', async () => {
  const me = await payer()
  const { body } = await me.post(updatePlan, { planId: 'growth' })
  await pays(body.checkout.checkoutUrl)
  const down = await me.post(updatePlan, { planId: 'starter' })
  expect(down.body).toMatchObject({ outcome: 'scheduled', checkout: null })
  expect(await me.read(getPreApproval)).toMatchObject({ amount: 99 })
})

test('another cycle from the next period on is authorized without a payment', async () => {
  const me = await payer()
  const yearly = await me.post(updatePlan, { billingCycle: 'yearly' })
  await pays(yearly.body.checkout.checkoutUrl)
  const { body } = await me.post(updatePlan, { billingCycle: 'monthly' })
  expect(body).toMatchObject({ outcome: 'checkout-required', proration: { amountDue: 0 } })
  await pays(body.checkout.checkoutUrl)
  const { currentPeriodEnd, scheduledChange } = await me.read(getSubscription)
  expect(scheduledChange).toMatchObject({ billingCycle: 'monthly', effectiveAt: currentPeriodEnd })
  expect(await me.read(getPreApproval)).toMatchObject({ frequency: 1, startsAt: currentPeriodEnd })
})

test('changing the card is refused with a hint to do it at the provider', async () => {
  const me = await payer()
  const { status, body } = await me.post(updateCard)
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  expect(body.error.message).toMatch(/in your account there/)
})

test('a chargeback that is won restores the payment: the unused part is credit, and the merchant is notified', async () => {
  const me = await payer()
  await app.setClock('2026-11-11T00:00:00.000Z')
  const { mercadopago } = app.services.adapters.billing
  const { id } = await me.read(getPreApproval)
  const [payment] = await mercadopago!.listPayments(id, { since: new Date(0) })
  standIn.chargeBack(payment!.id)
  await deliver()
  expect(await me.read(getSubscription)).toMatchObject({
    status: 'paused',
    pauseReason: 'chargeback',
    creditBalance: 0,
  })
  expect(await me.payments()).toMatchObject([{ amount: 99, status: 'refunded', failureReason: 'chargeback' }])

  standIn.decideDispute(payment!.id, 'settled')
  await deliver()
  expect(await me.read(getSubscription)).toMatchObject({ pauseReason: 'chargeback', creditBalance: 0 })

  // The same decision, told twice.
  standIn.decideDispute(payment!.id, 'reimbursed', 'topic_chargebacks_wh')
  await deliver()
  standIn.decideDispute(payment!.id, 'reimbursed')
  await deliver()
  // Two thirds of the month were left when it was charged back.
  expect(await me.read(getSubscription)).toMatchObject({
    ...{ status: 'paused', pauseReason: 'provider', creditBalance: 66 },
  })
  expect(await me.payments()).toMatchObject([
    { amount: 99, status: 'approved', failureReason: null, balanceChange: 66 },
  ])
  const { data } = (await me.shop.call(listNotifications)).body
  expect(data.filter(({ type }: { type: string }) => type === 'chargeback-won')).toMatchObject([
    { message: expect.stringContaining('BRL 66.00 of it was unused, and is your credit. Resume') },
  ])
  // The credit pays a part of the next checkout.
  const again = await me.post(resume, {})
  expect(again.status, JSON.stringify(again.body)).toBeLessThan(300)
  expect(standIn.bodies.at(-1)).toMatchObject({ auto_recurring: { transaction_amount: 33 } })
})
