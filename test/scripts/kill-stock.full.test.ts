/** kill -9 of the process that sends stock alerts, in the middle of a rollout: nobody is alerted twice or missed. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TestApp } from '#test/support/app'
import { advance, call, kill, prepareServer, readRows, start, until } from '#test/support/processes'
import { stockShop } from '#test/support/stock'

const people = 900

/** A store with a QR number, a sold-out variant and subscribers. */
async function filled(app: TestApp): Promise<{ key: string; storeId: string }> {
  const shop = await stockShop(app)
  await (await shop.context()).db
    .insertInto('stock_subscriptions')
    .columns([
      'id',
      'product_id',
      'variant_id',
      'product_name',
      'channel',
      'email',
      'phone',
      'contact_key',
      'source',
      'status',
      'click_token',
      'created_at',
      'updated_at',
    ])
    .expression((eb) => {
      const isEmail = sql`g.n % 5 < 3`
      const email = sql<string>`case when ${isEmail} then 'shopper-' || g.n || '@example.com' end`
      const phone = sql<string>`case when not ${isEmail} then '+55119' || (80000000 + g.n * 10 + 5) end`
      // biome-ignore lint/plugin/clock: the processes it starts go by the machine's clock
      const at = sql<Date>`date_trunc('milliseconds', now()) - (20000 - g.n) * interval '1 second'`
      return eb
        .selectFrom(sql<{ n: number }>`generate_series(1, ${sql.lit(people)})`.as(sql`g(n)`))
        .select([
          sql<string>`uuid_v7(${at})`.as('id'),
          sql<string>`'2000'`.as('product_id'),
          sql<string>`'3001'`.as('variant_id'),
          sql<string>`'Lamp'`.as('product_name'),
          sql<string>`case when ${isEmail} then 'email' else 'phone' end`.as('channel'),
          email.as('email'),
          phone.as('phone'),
          sql<string>`coalesce(${email}, ${phone})`.as('contact_key'),
          sql<string>`'product-page'`.as('source'),
          sql<string>`'waiting'`.as('status'),
          sql<string>`md5(g.n::text)`.as('click_token'),
          at.as('created_at'),
          at.as('updated_at'),
        ])
    })
    .execute()
  return { key: shop.key, storeId: shop.id }
}

test('stock alerts survive kill -9 of the process that sends them', async () => {
  const {
    env,
    filled: { key, storeId },
  } = await prepareServer(filled)
  const count = async (url: string, status: string): Promise<number> =>
    (await call(url, key, 'GET', `/v1/stock-notifications/list?limit=1&status=${status}`)).body.total
  const first = await start('scripts/start.ts', env)
  expect(await count(first.url, 'waiting')).toBe(people)
  const back = `/sandbox/api/ecommerce/${storeId}/variants/3001/stock`
  // Capacity for all people but ten.
  expect((await call(first.url, key, 'POST', back, { stock: people / 2 - 5 })).status).toBe(200)
  await until(async () => (await count(first.url, 'sent')) >= people / 3)
  await kill(first, env)

  const second = await start('scripts/start.ts', env)
  expect(await count(second.url, 'sent')).toBeLessThan(people - 10)
  // Messages that the dead process may have sent are sent again with their keys, after two minutes of the clock.
  const clock = { advanceSeconds: 130 }
  expect((await call(second.url, key, 'POST', '/sandbox/api/clock', clock)).status).toBe(200)
  await until(async () => {
    // A retried job waits for its backoff first.
    await advance(second, 5)
    return (await count(second.url, 'sent')) === people - 10
  })
  expect([await count(second.url, 'waiting'), await count(second.url, 'sending')]).toEqual([10, 0])
  const waiting = await call(second.url, key, 'GET', '/v1/stock-notifications/list?sort=oldest')
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)

  const [told] = await readRows<{ keys: number; contacts: number }>(
    env,
    `select count(distinct key)::int as keys, count(distinct contact)::int as contacts from (
       select idempotency_key as key, phone as contact from sandbox_messages
       union all select idempotency_key, to_address from sandbox_mail) told`,
  )
  expect([told!.keys, told!.contacts]).toEqual([people - 10, people - 10])
  // The latest subscribers are the ones still waiting.
  const last = Array.from({ length: 10 }, (_, i) => people - 9 + i)
  expect(
    waiting.body.data.map((row: { email: string | null; phone: string | null }) => row.email ?? row.phone),
  ).toEqual(last.map((n) => (n % 5 < 3 ? `shopper-${n}@example.com` : `+55119${80_000_000 + n * 10 + 5}`)))
})
