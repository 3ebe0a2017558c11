/** The quota of the cycle, over the API (store, rule 7). */

import { expect, test } from 'vitest'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendMessage from '#operations/messaging/sends/api/send-message'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Billed, billed, startAt } from '#test/support/subscriber'

const app = await testApp()
const sandbox = getSandbox(app.services.adapters.messaging)

/** On `starter` with so many of its 1,000 messages left. */
async function sender(left: number, plan: 'starter' | 'growth' = 'starter'): Promise<Billed> {
  await startAt(app, '2026-11-20T12:00:00.000Z')
  const me = await billed(app, { plan })
  const ctx = await me.shop.context()
  await connectNumber(ctx, { type: 'qr', phone: '+5511900001111' })
  const { limit } = await me.read(getUsage)
  await ctx.db
    .updateTable('usage_cycles')
    .set({ used: limit - left })
    .execute()
  return me
}
const send = (me: Billed, phone: string) => me.shop.call(sendMessage, { body: { phone, text: 'Hello' } })
const phoneOf = (n: number): string => `+55119${String(82_000_000 + n * 10 + 5)}`

test('with 5 messages left, 20 concurrent sends are 5 accepted and 15 refused, with exact sums', async () => {
  const me = await sender(5)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(me, phoneOf(n))))
  const statuses = answers.map((each) => each.status).sort()
  expect(statuses).toEqual([...Array(5).fill(201), ...Array(15).fill(403)])
  for (const { status, body } of answers) {
    if (status === 403) expect(body.error.code).toBe('forbidden')
  }
  expect(await sandbox.outbox(me.shop.id)).toHaveLength(5)
  expect(await me.read(getUsage)).toMatchObject({ used: 1000, reserved: 0, remaining: 0, percentUsed: 100 })
  const refused = await app.database.query('select 1 from direct_messages where store_id = $1', [me.shop.id])
  expect(refused).toHaveLength(5)
})
