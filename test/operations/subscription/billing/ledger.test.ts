/** The payments explain every change of the credit balance (subscription, rule 15). */
import { expect, test } from 'vitest'
import cancelSubscription from '#operations/subscription/billing/api/cancel-subscription'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import { getSandboxBilling } from '#operations/subscription/provider/sandbox'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import listPayments from '#operations/subscription/reads/api/list-payments'
import { saveRow } from '#operations/subscription/rows'
import { testApp } from '#test/support/app'
import { type Billed, moveTo, payer } from '#test/support/subscriber'

const app = await testApp()

interface Payment {
  status: string
  kind: string
  amount: number
  creditApplied: number
  balanceChange: number
  planId: string
  periodStart: string | null
  periodEnd: string | null
}
const payments = async (me: Billed): Promise<Payment[]> => (await me.read(listPayments)).data

/** The credit balance, which the payments must explain. */
async function balance(me: Billed): Promise<number> {
  const { creditBalance } = await me.read(getSubscription)
  const explained = (await payments(me)).reduce((sum, { balanceChange }) => sum + balanceChange, 0)
  expect(explained).toBeCloseTo(creditBalance, 2)
  return creditBalance
}

test('a period that begins at a checkout and is paid wholly by credit has a payment of 0', async () => {
  const me = await payer(app, { planId: 'scale', billingCycle: 'yearly' })
  await me.post(cancelSubscription)
  await app.setClock('2026-12-01T00:00:00.000Z')
  await me.subscribe({ planId: 'starter' })
  expect(await balance(me)).toBeGreaterThan(0)
  const [newest] = await payments(me)
  expect(newest).toMatchObject({
    ...{ status: 'approved', kind: 'subscription', amount: 0, creditApplied: 99, planId: 'starter' },
    ...{ periodStart: '2026-12-01T00:00:00.000Z', periodEnd: '2027-01-01T00:00:00.000Z' },
  })
  // The following periods are paid by what is left of it.
  await moveTo(app, '2027-01-01T00:00:00.000Z')
  await moveTo(app, '2027-02-01T00:00:00.000Z')
  expect((await payments(me)).slice(0, 2)).toMatchObject([
    { amount: 0, creditApplied: 99, balanceChange: -99 },
    { amount: 0, creditApplied: 99, balanceChange: -99 },
  ])
  await balance(me)
  // An upgrade that the balance covers.
  const upgraded = await me.post(updatePlan, { planId: 'growth' })
  expect(upgraded.body).toMatchObject({ outcome: 'applied', proration: { amountDue: 0 } })
  await app.drainJobs()
  expect((await payments(me))[0]).toMatchObject({ amount: 0, kind: 'proration', planId: 'growth' })
  await balance(me)
})

test('a partial refund and a chargeback are explained by their payment', async () => {
  const me = await payer(app, { planId: 'scale', billingCycle: 'yearly' })
  await me.post(cancelSubscription)
  await app.setClock('2026-12-01T00:00:00.000Z')
  await me.subscribe({ planId: 'starter' })
  const before = await balance(me)
  const first = await app.database.root
    .selectFrom('sandbox_payments')
    .select('id')
    .where('store_id', '=', me.shop.id)
    .executeTakeFirstOrThrow()
  const sandbox = getSandboxBilling(app.services.adapters.billing)
  await sandbox.refundPart(first.id, '100.00')
  await app.advance(61_000)
  await app.drainJobs()
  expect(await balance(me)).toBeCloseTo(before - 100, 2)
  await sandbox.refund(first.id)
  await app.advance(61_000)
  await app.drainJobs()
  expect(await balance(me)).toBe(0)
})

test('a change of the balance without a payment is refused', async () => {
  const me = await payer(app)
  const ctx = await me.shop.context()
  const row = await ctx.db.selectFrom('subscriptions').selectAll().executeTakeFirstOrThrow()
  await expect(ctx.transaction((tx) => saveRow(tx, row, { credit_balance: '1.00' }))).rejects.toThrow(
    'needs the payment',
  )
})
