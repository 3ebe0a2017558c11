/** Automations with 100,000 pending messages: due messages leave on time, and the sweep per minute is short. */
import { setTimeout as wait } from 'node:timers/promises'
import { createAutomation } from '#operations/automations/definitions/save'
import { queueAdvance } from '#operations/automations/engine/schedule'
import { findStoresOnHold, findStoresToSweep } from '#operations/automations/engine/sweep'
import { type Area, type Shop, timed, type World } from '../area.ts'

const due = 60
const busyShops = 4
const dueOfBusy = 2_000
const ofOneMinute = 20_000
let filled = 0

type AutomationShop = Shop & { automation: string }

async function withAutomation(shop: Shop): Promise<AutomationShop> {
  const automation = await shop.ctx.transaction((tx) =>
    createAutomation(tx, {
      type: 'abandoned-cart',
      isActive: true,
      quietHours: { isEnabled: false },
      message: { text: 'Hello {{firstName|you}}: {{cartUrl}}' },
    }),
  )
  return { ...shop, automation }
}

/** Carts with their runs and first messages, due evenly between two seconds from now. */
async function fill(
  world: World,
  shop: AutomationShop,
  rows: number,
  from: number,
  to: number,
): Promise<void> {
  const each = `(select n, 'cart-' || n as id, '+55119' || (10000005 + n * 10) as phone,
    now() + (${from} + (n - ${filled}) * ${to - from}::float8 / {rows}) * interval '1 second' as due,
    md5('run ' || n)::uuid as run, md5('message ' || n)::uuid as message
    from generate_series(${filled + 1}, ${filled} + {rows}) n) as g`
  filled += rows
  const items = '[{"productId":"1001","variantId":"2001","name":"Mug","quantity":2,"total":"100.00"}]'
  await world.fill(shop, rows, [
    `insert into carts (store_id, id, customer_name, customer_phone, phone_key, items, total, currency, url,
      last_activity_at, created_at, updated_at)
    select {store}, id, 'Customer ' || n, phone, phone, '${items}', 100, 'BRL', 'https://example.com/cart/' || n,
      now() - interval '1 hour', now(), now() from ${each}`,
    `insert into automation_runs (store_id, id, automation_id, entry_key, origin, event, entity_type, entity_id,
      occurred_at, cart_id, phone, phone_key, contact_name, entered_at, created_at, updated_at)
    select {store}, run, '${shop.automation}', 'cart:' || id, 'event', 'cart-abandoned', 'cart', id,
      now() - interval '1 hour', id, phone, phone, 'Customer ' || n, now(), now(), now() from ${each}`,
    `insert into automation_executions (store_id, id, run_id, automation_id, sequence, status, phone, phone_key,
      scheduled_at, created_at, updated_at)
    select {store}, message, run, '${shop.automation}', 1, 'pending', phone, phone, due, now(), now() from ${each}`,
  ])
}

const queueNow = ({ ctx }: Shop): Promise<void> => ctx.transaction((tx) => queueAdvance(tx, [tx.now()]))

/** Waits until no message of a store is due. */
async function waitUntilSent({ database }: World, { storeId }: Shop): Promise<void> {
  for (const until = performance.now() + 15 * 60_000; performance.now() < until; await wait(250)) {
    const rows = await database.query(
      `select 1 from automation_executions where store_id = $1
        and (status = 'sending' or (status = 'pending' and scheduled_at <= now())) limit 1`,
      [storeId],
    )
    if (rows.length === 0) return
  }
  throw new Error('What was due has not left after 15 minutes')
}

/** Messages that become due one after the other, among pending ones, with busy stores at the same time. */
async function measureDue(world: World, shop: AutomationShop): Promise<void> {
  await fill(world, shop, due, 3, 18)
  const { database, report } = world
  const ofThese = 'from automation_executions where store_id = $1 order by created_at desc limit $2'
  const values = [shop.storeId, due]
  const rows = await database.query<{ at: Date }>(`select scheduled_at as at ${ofThese}`, values)
  const instants = rows.map(({ at }) => at)
  await shop.ctx.transaction((tx) => queueAdvance(tx, instants))
  await wait(18_000)
  await waitUntilSent(world, shop)
  const late = await database.query<{ ms: number }>(
    `select extract(epoch from sent_at - scheduled_at)::float8 * 1000 as ms ${ofThese}`,
    values,
  )
  const times = late.map(({ ms }) => ms)
  report(
    `${due} due among many, beside ${busyShops} stores with ${dueOfBusy} due each: late by`,
    5_000,
    times,
  )
}

async function sweep({ database }: World): Promise<void> {
  await findStoresOnHold(database.root)
  const stores = await findStoresToSweep(database.root, new Date())
  if (stores.length !== 1) throw new Error(`The sweep found ${stores.length} stores instead of one`)
}

export default {
  rows: 100_000,
  phone: '+5511940001001',
  async prepare(world, opened) {
    const { rows, database, withWorker, report } = world
    const shop = await withAutomation(opened)
    await fill(world, shop, rows, 86_400, 30 * 86_400)
    const busy: AutomationShop[] = []
    for (let n = 2; n < 2 + busyShops; n += 1) {
      const other = await withAutomation(await world.open(`busy-${n}`, `+551194000100${n}`))
      await fill(world, other, dueOfBusy, -10, -10)
      busy.push(other)
    }
    await database.query('vacuum analyze', [])
    await withWorker(async () => {
      for (const each of busy) await queueNow(each)
      await measureDue(world, shop)
      for (const each of busy) await waitUntilSent(world, each)
    })
    await fill(world, shop, ofOneMinute, -60, -1)
    await database.query('vacuum analyze', [])
    const sweeps: number[] = []
    for (let i = 0; i < 10; i += 1) sweeps.push(await timed(() => sweep(world)))
    report(`the sweep, ${ofOneMinute} due`, 1_000, sweeps)
    await withWorker(async () => {
      await queueNow(shop)
      const ms = await timed(() => waitUntilSent(world, shop))
      report(`${ofOneMinute} due in one minute, at 100 a second`, 300_000, [ms])
    })
    return {}
  },
} satisfies Area
