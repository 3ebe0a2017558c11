/** Automations with 100,000 messages pending: what is due leaves in time, and the minute's sweep is short. */

import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '#db/database'
import { getAutomation } from '#operations/automations/automations'
import { createAutomation } from '#operations/automations/definitions/save'
import { freeExecutes, storesHeld, storesToSweep } from '#operations/automations/engine/sweep'
import { enterRuns } from '#operations/automations/entering/enter'
import { automationAdvance } from '#operations/automations/handles'
import { type Context, type Services, SystemContext } from '#runtime/context'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { connectNumber } from '#scripts/seed/connect-number'
import { area, type Measure, type World } from '../area.ts'

interface Filled {
  storeId: string
  key: string
  automationId: string
}

interface Shop extends Filled {
  ctx: Context
}

const lateAtMostMs = 5_000
const due = 60
const busyShops = 4
const dueOfBusy = 2_000
const ofOneMinute = 20_000
const longestMs = 15 * 60_000

export default area<Filled>({
  name: 'automations',
  description:
    'Messages that are due beside 100,000 that are not, the sweep, and the reads of the automation',
  rows: 100_000,

  async prepare(world, rows) {
    const { database, timed } = world
    const shop = await openShop(world, 'bench-automations', 1)
    await timed(`${rows} carts with a pending message each`, null, () => fill(shop, rows, '1 day', '30 days'))
    await database.query('vacuum analyze', [])
    await world.withWorker(() => sendDue(world, shop, `${due} due among ${rows} pending: late by`))
    const busy: Shop[] = []
    for (let n = 1; n <= busyShops; n += 1) busy.push(await openShop(world, `bench-busy-${n}`, n + 1))
    for (const each of busy) await fill(each, dueOfBusy, '-10 seconds', '-10 seconds')
    await world.withWorker(async () => {
      await queueDue(busy)
      await sendDue(world, shop, `the same beside ${busyShops} stores with ${dueOfBusy} due each: late by`)
    })
    await finish(database, busy)
    await fill(shop, ofOneMinute, '-1 minute', '-1 second')
    await database.query('vacuum analyze', [])
    await measureSweep(world)
    await timed(`${ofOneMinute} due in one minute, at 100 a second`, 300_000, () =>
      world.withWorker(() => untilNone(database, shop)),
    )
    const { storeId, key, automationId } = shop
    return { storeId, key, automationId }
  },

  measures({ storeId, key, automationId }) {
    const of = `from automation_executions where store_id = $1 and automation_id = $2`
    const read = (name: string, path: string, text: string): Measure => ({
      name,
      path: `/v1/automations${path}`,
      key,
      atMostMs: null,
      bare: { text, values: [storeId, automationId] },
    })
    const page = `select * ${of} order by scheduled_at desc, id desc limit 20`
    return [
      read('automations', '', `select count(*) ${of}`),
      read('report of 30 days', `/${automationId}/report`, page),
      read('report, the pending ones, page 4,000', `/${automationId}/report?status=pending&page=4000`, page),
      read(
        'failures',
        `/${automationId}/failures`,
        `select count(*) ${of} and status in ('failed', 'skipped')`,
      ),
      read(
        'flow stats',
        `/${automationId}/flow/stats`,
        `select count(*) from automation_runs where store_id = $1 and automation_id = $2`,
      ),
    ]
  },
})

async function openShop({ database, services }: World, slug: string, n: number): Promise<Shop> {
  const owner = `owner@${slug}.example.com`
  const made = {
    slug,
    name: slug,
    owner,
    plan: 'scale',
    country: 'BR',
    currency: 'BRL',
    timezone: 'America/Sao_Paulo',
  }
  const now = new Date()
  const { id: storeId } = await createStore(database, now, made)
  const { key } = await createKey(database, now, { storeId, member: owner, scopes: [...allScopes] })
  const ctx = await contextOf(services, storeId)
  await ctx.db.updateTable('usage_cycles').set({ message_limit: 1_000_000 }).execute()
  await connectNumber(ctx, { type: 'qr', phone: `+55119400010${String(n).padStart(2, '0')}` })
  const automationId = await ctx.transaction((tx) =>
    createAutomation(tx, {
      type: 'abandoned-cart',
      isActive: true,
      quietHours: { isEnabled: false },
      message: { text: 'Hello {{firstName|you}}: {{cartUrl}}' },
    }),
  )
  return { storeId, key, ctx, automationId }
}

const contextOf = async (services: Services, storeId: string): Promise<Context> =>
  (await new SystemContext(services, services.log, 'bench').forStore(storeId))!

const items = [{ productId: '1001', variantId: '2001', name: 'Mug', quantity: 2, total: '100.00' }]

let filledBefore = 0

/** Carts with their runs and first messages, due evenly between two instants from now. */
async function fill(
  { ctx, storeId, automationId }: Shop,
  rows: number,
  from: string,
  to: string,
): Promise<void> {
  const [first, last] = [filledBefore + 1, filledBefore + rows]
  filledBefore = last
  const db = ctx.system
  const store = sql.lit(storeId)
  const automation = sql.lit(automationId)
  const each = sql`(select n, 'bench-' || n as id, '+55119' || (10000005 + n * 10) as phone,
    now() + ${sql.lit(from)}::interval + (n - ${sql.lit(first)})
      * ((${sql.lit(to)}::interval - ${sql.lit(from)}::interval) / ${sql.lit(rows)}::float8) as due,
    md5('run ' || n)::uuid as run, md5('message ' || n)::uuid as message
    from generate_series(${sql.lit(first)}::int, ${sql.lit(last)}::int) n) as g`
  await sql`
    insert into carts (store_id, id, customer_name, customer_phone, phone_key, items, total, currency, url,
      last_activity_at, created_at, updated_at)
    select ${store}, id, 'Customer ' || n, phone, phone, ${sql.lit(JSON.stringify(items))}::jsonb, 100, 'BRL', 'https://example.com/cart/' || n,
      now() - interval '1 hour', now(), now() from ${each}`.execute(db)
  await sql`
    insert into automation_runs (store_id, id, automation_id, entry_key, origin, event, entity_type, entity_id,
      occurred_at, cart_id, phone, phone_key, contact_name, entered_at, created_at, updated_at)
    select ${store}, run, ${automation}, 'cart:' || id, 'event', 'cart-abandoned', 'cart', id,
      now() - interval '1 hour', id, phone, phone, 'Customer ' || n, now(), now(), now() from ${each}`.execute(
    db,
  )
  await sql`
    insert into automation_executions (store_id, id, run_id, automation_id, sequence, status, phone, phone_key,
      scheduled_at, created_at, updated_at)
    select ${store}, message, run, ${automation}, 1, 'pending', phone, phone, due, now(), now() from ${each}`.execute(
    db,
  )
}

/** Runs that begin one after the other, as carts bring them: each is due two seconds later. */
async function sendDue({ told, database }: World, shop: Shop, name: string): Promise<void> {
  const { ctx, storeId } = shop
  const automation = (await getAutomation(ctx, shop.automationId))!
  const ids: string[] = []
  for (let i = 0; i < due; i += 1) {
    filledBefore += 1
    const id = `due-${filledBefore}`
    ids.push(id)
    const phone = `+55219${10_000_005 + filledBefore * 10}`
    await ctx.transaction(async (tx) => {
      const now = tx.now()
      // A cart that somebody was in since is not abandoned: its message would wait.
      const occurredAt = new Date(now.getTime() - 3_600_000)
      await tx.db
        .insertInto('carts')
        .values({
          id,
          customer_phone: phone,
          phone_key: phone,
          items: JSON.stringify(items),
          total: '100',
          currency: 'BRL',
          url: 'https://example.com/cart',
          last_activity_at: occurredAt,
          created_at: now,
          updated_at: now,
        })
        .execute()
      const person = { customerId: null, phone, phoneKey: phone, email: null, name: null }
      const entry = { key: `cart:${id}`, entityId: id, occurredAt, cartId: id, orderId: null, ...person }
      await enterRuns(tx, automation, [entry], new Date(now.getTime() + 2_000))
    })
    await wait(250)
  }
  const startedAt = performance.now()
  for (;;) {
    const rows = await database.query<{ ms: number; is_sent: boolean }>(
      `select extract(epoch from e.sent_at - e.scheduled_at)::float8 * 1000 as ms, e.sent_at is not null as is_sent
       from automation_executions e join automation_runs r on r.store_id = e.store_id and r.id = e.run_id
       where e.store_id = $1 and r.cart_id = any($2::text[])`,
      [storeId, ids],
    )
    if (rows.every((row) => row.is_sent)) {
      told(
        name,
        lateAtMostMs,
        rows.map((row) => row.ms),
      )
      return
    }
    if (performance.now() - startedAt > 60_000) {
      const left = await database.query(
        `select status, hold_reason, coalesce(failure_code, skip_reason) as code, count(*)::int as n
         from automation_executions e join automation_runs r on r.store_id = e.store_id and r.id = e.run_id
         where e.store_id = $1 and r.cart_id = any($2::text[]) group by 1, 2, 3`,
        [storeId, ids],
      )
      throw new Error(`What was due has not left after a minute: ${JSON.stringify(left)}`)
    }
    await wait(250)
  }
}

/** As the sweep does it. */
async function queueDue(shops: readonly Shop[]): Promise<void> {
  for (const { ctx } of shops) {
    await ctx.queue(automationAdvance, { key: 'sweep', at: ctx.now().toISOString(), executionId: null })
  }
}

async function finish(database: Database, shops: readonly Shop[]): Promise<void> {
  await database.query(
    `update automation_executions set status = 'cancelled', ended_at = now()
     where store_id = any($1::uuid[]) and status in ('pending', 'sending')`,
    [shops.map((shop) => shop.storeId)],
  )
}

async function measureSweep({ database, told }: World): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 10; i += 1) {
    const startedAt = performance.now()
    await storesHeld(database.root)
    await freeExecutes(database.root)
    const stores = await storesToSweep(database.root, new Date())
    times.push(performance.now() - startedAt)
    if (stores.length !== 1) throw new Error(`The sweep found ${stores.length} stores instead of one`)
  }
  told(`the sweep, ${ofOneMinute} due`, 1_000, times)
}

async function untilNone(database: Database, { ctx, storeId }: Shop): Promise<void> {
  await queueDue([{ ctx } as Shop])
  const startedAt = performance.now()
  for (;;) {
    const [row] = await database.query<{ left: number }>(
      `select count(*)::int as left from automation_executions
       where store_id = $1 and (status = 'sending' or (status = 'pending' and scheduled_at <= now()))`,
      [storeId],
    )
    if (row!.left === 0) return
    if (performance.now() - startedAt > longestMs) throw new Error(`${row!.left} messages have not left`)
    await wait(500)
  }
}
