// biome-ignore-all lint/plugin/clock: the processes it starts go by the machine's clock
/** kill -9 of the process that sends an automation's messages: each customer gets one, and none stays pending. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from '#test/support/app'
import {
  advance,
  call,
  kill,
  opened,
  outbox,
  prepareServer,
  type Running,
  start,
  until,
} from '#test/support/processes'
import { store } from '#test/support/store'

const customers = 400

/** A store with a QR number, an automation for new orders, and 400 of these since yesterday. */
async function filled(app: TestApp): Promise<{ key: string; id: string }> {
  const shop = await store(app)
  const ctx = await shop.context()
  await connectNumber(ctx, { type: 'qr', phone: '+5511900002222' })
  const automation = await shop.request('POST', '/automations', {
    body: { type: 'order-created', isActive: true, message: { text: 'Hello, {{orderNumber}}' } },
  })
  const n = sql<number>`g.n`
  const phone = sql<string>`'+55119' || (60000000 + g.n * 10 + 5)`
  const now = sql<Date>`now()`
  await ctx.db
    .insertInto('orders')
    .columns([
      'id',
      'number',
      'status',
      'payment_status',
      'fulfillment_status',
      'currency',
      'subtotal',
      'discount',
      'shipping',
      'total',
      'refunded_total',
      'coupon_codes',
      'customer_phone',
      'phone_key',
      'placed_at',
      'updated_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom(sql<{ n: number }>`generate_series(1, ${sql.lit(customers)})`.as(sql`g(n)`))
        .select([
          sql<string>`'o' || ${n}`.as('id'),
          sql<string>`${n}::text`.as('number'),
          sql<string>`'open'`.as('status'),
          sql<string>`'paid'`.as('payment_status'),
          sql<string>`'unfulfilled'`.as('fulfillment_status'),
          sql<string>`'BRL'`.as('currency'),
          sql<string>`90`.as('subtotal'),
          sql<string>`0`.as('discount'),
          sql<string>`10`.as('shipping'),
          sql<string>`100`.as('total'),
          sql<string>`0`.as('refunded_total'),
          sql<string[]>`'{}'::text[]`.as('coupon_codes'),
          phone.as('customer_phone'),
          phone.as('phone_key'),
          sql<Date>`now() - interval '1 day' - g.n * interval '1 second'`.as('placed_at'),
          now.as('updated_at'),
        ] as never),
    )
    .execute()
  return { key: shop.key, id: automation.body.id }
}

test('an automation survives kill -9 twice', { timeout: 400_000 }, async () => {
  const {
    env,
    filled: { key, id },
  } = await prepareServer(filled)
  const path = `/v1/automations/${id}`
  const summary = async ({ url }: Running) =>
    (await call(url, key, 'GET', `${path}/report?limit=1`)).body.summary as Record<string, number>
  const first = await start('scripts/start.ts', env)
  const executed = await Promise.all(
    [1, 2].map(() => call(first.url, key, 'POST', `${path}/execute`, { limit: 10_000 })),
  )
  expect(executed.map((each) => each.status).sort()).toEqual([202, 409])
  expect(executed.find((each) => each.status === 202)!.body.candidates).toBe(customers)
  // While customers still enter, and messages are being sent.
  await until(async () => (await summary(first)).total! >= 100 && true)
  await kill(first, env)

  // Slow enough that a busy machine, which polls rarely, sees it in the middle.
  const second = await start('scripts/start.ts', { ...env, SANDBOX_MESSAGES_PER_SECOND: '20' })
  const entered = await summary(second)
  expect(entered.total).toBeGreaterThanOrEqual(100)
  // Its jobs have no heartbeat any more, and its claims are two minutes old.
  await advance(second, 130)
  await until(async () => {
    // A retried job waits for its backoff first.
    await advance(second, 5)
    const { total, sent } = await summary(second)
    return total === customers && sent! >= customers / 3
  })
  await kill(second, env)

  const third = await start('scripts/start.ts', env)
  const middle = await summary(third)
  expect(middle.total).toBe(customers)
  expect(middle.sent).toBeLessThan(customers)
  // Claims of the dead process expire after two minutes of the clock.
  await advance(third, 130)
  const done = await until(async () => {
    await advance(third, 5)
    const now = await summary(third)
    return now.pending === 0 && now
  })
  expect(done).toMatchObject({ total: customers, sent: customers, failed: 0, skipped: 0, cancelled: 0 })
  const again = await call(third.url, key, 'POST', `${path}/execute`, {})
  expect(again).toMatchObject({ status: 202, body: { candidates: 0 } })
  third.child.kill('SIGTERM')
  expect(await third.ended).toBe(0)

  const { rows, phones, keys } = await outbox(env)
  expect([rows, phones, keys]).toEqual([customers, customers, customers])
  const database = await opened(env)
  const [left] = await database.query<{ claimed: number; ledger: number; touches: number; used: number }>(
    `select (select count(*)::int from automation_executions where status in ('pending', 'sending')) as claimed,
      (select count(*)::int from message_ledger) as ledger,
      (select count(*)::int from attribution_touches) as touches,
      (select sum(used)::int from usage_cycles) as used,
      (select sum(reserved)::int from usage_cycles) as reserved`,
    [],
  )
  await database.close()
  expect(left).toEqual({ claimed: 0, ledger: customers, touches: customers, used: customers, reserved: 0 })
})
