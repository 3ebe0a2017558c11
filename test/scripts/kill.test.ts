/** kill -9 of real processes in the middle of real work: nobody twice, nobody lost. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from '#test/support/app'
import { call, outbox, prepared, start, until } from '#test/support/processes'
import { store } from '#test/support/store'

const recipients = 1500

/** A store with a QR number and a campaign's list. */
async function filled(app: TestApp): Promise<{ key: string; listId: string }> {
  const shop = await store(app)
  const ctx = await shop.context()
  await connectNumber(ctx, { type: 'qr', phone: '+5511900001111' })
  const list = await shop.request('POST', '/campaigns/lists', { body: { name: 'Everybody' } })
  await ctx.db
    .insertInto('list_contacts')
    .columns(['id', 'list_id', 'phone', 'phone_key', 'name', 'source', 'created_at', 'updated_at'])
    .expression((eb) =>
      eb
        .selectFrom(sql<{ n: number }>`generate_series(1, ${sql.lit(recipients)})`.as(sql`g(n)`))
        .select([
          sql<string>`uuid_v7(now())`.as('id'),
          sql<string>`${list.body.id}::uuid`.as('list_id'),
          sql<string>`'+55119' || (80000000 + g.n * 10 + 5)`.as('phone'),
          sql<string>`'+55119' || (80000000 + g.n * 10 + 5)`.as('phone_key'),
          sql<string>`'Contact ' || g.n`.as('name'),
          sql<string>`'manual'`.as('source'),
          sql<Date>`now()`.as('created_at'),
          sql<Date>`now()`.as('updated_at'),
        ]),
    )
    .execute()
  await ctx.db.updateTable('contact_lists').set({ size: recipients }).where('id', '=', list.body.id).execute()
  return { key: shop.key, listId: list.body.id }
}

test('a campaign survives kill -9 of the process that sends it', { timeout: 240_000 }, async () => {
  const {
    env,
    filled: { key, listId },
  } = await prepared(filled)
  const first = await start('scripts/start.ts', env)
  const created = await call(first.url, key, 'POST', '/v1/campaigns', {
    name: 'To everybody',
    listId,
    content: { type: 'text', text: 'Hello {{firstName|you}}' },
  })
  expect(created.status).toBe(201)
  const path = `/v1/campaigns/${created.body.id}`
  expect((await call(first.url, key, 'POST', `${path}/send`)).status).toBe(202)
  await until(
    60,
    async () => (await call(first.url, key, 'GET', path)).body.counters.sent >= recipients / 3 && true,
  )
  first.child.kill('SIGKILL')
  await first.ended

  const second = await start('scripts/start.ts', env)
  const middle = (await call(second.url, key, 'GET', path)).body
  expect(middle.status).toBe('sending')
  expect(middle.counters.total).toBe(recipients)
  // What the dead process had claimed is taken up after two minutes of the clock.
  const moved = await fetch(`${second.url}/sandbox/api/clock`, {
    method: 'POST',
    body: JSON.stringify({ advanceSeconds: 130 }),
  })
  expect(moved.status).toBe(200)
  const done = await until(120, async () => {
    const { body } = await call(second.url, key, 'GET', path)
    return body.status === 'sent' && body
  })
  const { counters } = done
  expect(counters).toMatchObject({ total: recipients, pending: 0, skipped: 0, cancelled: 0 })
  expect(counters.sent + counters.failed).toBe(recipients)
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)

  const { rows, phones, keys } = await outbox(env)
  expect([rows, phones, keys]).toEqual([recipients, recipients, recipients])
})
