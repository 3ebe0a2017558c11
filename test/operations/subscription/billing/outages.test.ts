/** Payments during an outage of this server, with lost hooks, however long (subscription, rules 3 and 4). */

import { expect, test } from 'vitest'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import { reconcile } from '#operations/subscription/billing/reconcile'
import { storesToReconcile, tick } from '#operations/subscription/billing/tick'
import { getSandboxBilling } from '#operations/subscription/provider/sandbox'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import { SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { type Billed, billed, cards, payer, startAt } from '#test/support/subscriber'

const app = await testApp()
const system = new SystemContext(app.services, app.services.log, 'test')
const sandbox = getSandboxBilling(app.services.adapters.billing)

/** The payer acts at the provider, whose hooks are lost. */
async function paysUnheard(me: Billed, page: string): Promise<void> {
  const form = { cardNumber: cards.good, holder: 'Olivia', expMonth: '12', expYear: '2089' }
  await sandbox.pay(new URL(page).pathname.split('/').at(-1)!, form)
  await loseHooks(me)
}
async function loseHooks(me: Billed): Promise<void> {
  for await (const _ of sandbox.undelivered(me.shop.id));
}
/** Runs the provider's charges of that time, while this server does nothing. */
async function awayFor(me: Billed, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    await app.setClock(new Date(app.clock.ms() + dayMs))
    while ((await sandbox.runDue()) > 0);
  }
  await loseHooks(me)
}

async function backAgain(): Promise<void> {
  await tick(system, new AbortController().signal)
  await app.drainJobs()
}

test('a paid checkout is found however late, and its plan is applied', async () => {
  await startAt(app, '2026-11-01T00:00:00.000Z')
  const me = await billed(app)
  const { body } = await me.post(createPreapproval, { planId: 'growth' })
  await paysUnheard(me, body.checkoutUrl)
  await awayFor(me, 20)
  expect((await me.read(getSubscription)).status).toBe('ended')
  await backAgain()
  expect(await me.read(getSubscription)).toMatchObject({
    status: 'active',
    planId: 'growth',
    currentPeriodStart: '2026-11-01T00:00:00.000Z',
    currentPeriodEnd: '2026-12-01T00:00:00.000Z',
  })
  expect(await me.payments()).toMatchObject([{ status: 'approved', amount: 249 }])
})

test('a checkout is checked again until its provider answers', async () => {
  await startAt(app, '2026-11-01T00:00:00.000Z')
  const me = await billed(app)
  const { body } = await me.post(createPreapproval, { planId: 'growth' })
  await paysUnheard(me, body.checkoutUrl)
  await me.mode('down')
  await app.setClock(new Date(app.clock.ms() + 2 * dayMs))
  await tick(system, new AbortController().signal)
  // Even if the job was lost: the hourly reconciliation covers the store.
  await app.database.query(`delete from pgboss.job where data->>'job' = $1`, ['billing-reconcile'])
  await me.mode('up')
  const stores = await storesToReconcile(system).execute()
  expect(stores.map((each) => each.store_id)).toContain(me.shop.id)
  await reconcile(await me.shop.context())
  expect((await me.read(getSubscription)).status).toBe('active')
})

test('renewals of several months are found, each once and in its own period', async () => {
  const me = await payer(app)
  await awayFor(me, 70)
  await backAgain()
  expect(await me.read(getSubscription)).toMatchObject({
    status: 'active',
    currentPeriodEnd: '2027-02-01T00:00:00.000Z',
  })
  const payments = (await me.payments()) as { status: string; periodStart?: string }[]
  expect(payments.map(({ status, periodStart }) => [status, periodStart])).toEqual([
    ['approved', '2027-01-01T00:00:00.000Z'],
    ['approved', '2026-12-01T00:00:00.000Z'],
    ['approved', '2026-11-01T00:00:00.000Z'],
  ])
})
