/** Queries over many rows of one store use an index: PostgreSQL's own count says how many rows were read. */
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { queueTierUpdates } from '#operations/inbox/conversations/order-changes'
import { inboxContactTier } from '#operations/inbox/handles'
import { findReviewedOrders } from '#operations/reviews/reviews/integrations'
import { attributeOrders } from '#operations/store/conversions/attribute-orders'
import type { Context } from '#runtime/context'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const many = 5_000
/** With fewer rows PostgreSQL prefers one sequential scan to four index lookups for each order. */
const manyTouches = 40_000
const fewAtMost = 300
const read = ['contacts', 'orders', 'order_items', 'product_reviews', 'attribution_touches'] as const

// Each shard of a cluster has its own count.
describe.skipIf(inject('nodes').length > 1)('among many rows', () => {
  let shop: Shop
  beforeAll(async () => {
    const app = await testApp()
    shop = await store(app)
    const id = (await shop.context()).store.id
    const at = `timestamptz '2026-11-01' - i * interval '1 minute'`
    // Every customer bought and reviewed the same product.
    for (const [table, columns, values] of [
      ['contacts', 'id, phone, phone_key, search_text', `gen_random_uuid(), '+' || i, 'p' || i, ''`],
      [
        'orders',
        'id, number, status, payment_status, fulfillment_status, currency, subtotal, total, customer_id, customer_email, phone_key, click_token, placed_at, updated_at',
        `'o' || i, i, 'open', 'paid', 'delivered', 'BRL', 1, 1, 'c' || i, 'e' || i || '@x.com', 'p' || i, 'k' || i, ${at}, ${at}`,
      ],
      [
        'order_items',
        'order_id, id, position, product_id, name, quantity, unit_price, total',
        `'o' || i, '1', 1, 'hot', 'Hot', 1, 1, 1`,
      ],
      [
        'product_reviews',
        'id, product_id, order_id, customer_name, customer_email, phone_key, rating, status, source, verified, search_text, reviewed_at',
        `gen_random_uuid(), 'hot', 'o' || i * 2, 'Ana', 'e' || i * 3 || '@x.com', 'p' || i * 5, 5, 'approved', 'request', true, '', ${at}`,
      ],
      [
        'attribution_touches',
        'id, source_type, source_id, channel, message_id, phone_key, email, coupon_code, click_token, touched_at',
        `gen_random_uuid(), 'newsletter', 's', 'email', 'm' || i, 'p' || i, 'e' || i || '@x.com', 'c' || i, 'k' || i, ${at} - interval '1 hour'`,
      ],
    ] as const) {
      const known = await app.database.query<{ name: string }>(
        `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1
          and column_name in ('created_at', 'updated_at', 'first_seen_at') and is_nullable = 'NO' and column_default is null`,
        [table],
      )
      const times = known.map(({ name }) => name).filter((name) => !columns.includes(name))
      await app.database.query(
        `insert into ${[table]} (${['store_id', columns, ...times].join(', ')})
          select ${[`'${id}'::uuid`, values, ...times.map(() => at)].join(', ')} from generate_series(1, ${table === 'attribution_touches' ? manyTouches : many}) i`,
        [],
      )
      await app.database.query(`analyze ${table}`, [])
    }
  })

  /** Rows of each table that this connection has read and not yet reported. */
  async function counted(ctx: Context): Promise<Map<string, number>> {
    const { rows } = await sql<{ name: string; read: number }>`
      select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
      where schemaname = 'public' and relname = any(${[...read]}::text[])`.execute(ctx.db)
    return new Map(rows.map((row) => [row.name, row.read]))
  }

  /** Rows that `work` read of each table. */
  async function readBy(work: (ctx: Context) => Promise<unknown>): Promise<Record<string, number>> {
    const ctx = await shop.context()
    return ctx.transaction(async (tx) => {
      const before = await counted(tx)
      await work(tx)
      const after = await counted(tx)
      return Object.fromEntries([...after].map(([name, rows]) => [name, rows - (before.get(name) ?? 0)]))
    })
  }

  test('the count detects a sequential scan', async () => {
    const found = await readBy((ctx) =>
      ctx.db.selectFrom('contacts').select(sql`max(phone)`.as('last')).execute(),
    )
    expect(found.contacts).toBeGreaterThanOrEqual(many)
  })

  test.each([
    [
      'contacts of orders that changed',
      (ctx: Context) => queueTierUpdates(ctx, [7, 8, 9].map(changed) as never),
    ],
    ['orders that are reviewed', (ctx: Context) => findReviewedOrders(ctx, ['o7', 'o8', 'o9'])],
    ['the touches of orders', (ctx: Context) => attributeOrders(ctx, ['o7', 'o8', 'o9'])],
  ])('%s', async (_, work) => {
    const found = await readBy(work)
    for (const table of read) expect(found[table] ?? 0, table).toBeLessThan(fewAtMost)
    expect(Math.max(...Object.values(found))).toBeGreaterThan(0)
  })

  test('the queries return the right rows', async () => {
    const ctx = await shop.context()
    expect([...(await findReviewedOrders(ctx, ['o1', 'o3', 'o4', 'o5', 'o7']))]).toEqual([
      ['o3', 'not-eligible'],
      ['o4', 'not-eligible'],
      ['o5', 'not-eligible'],
    ])
    // By the phone of the order, and by the phones of its customer's other orders.
    await queueTierUpdates(ctx, [
      { before: null, after: { ...changed(50).after, phone_key: 'p60' } as never },
    ])
    const queued = await ctx.db
      .selectFrom('contacts')
      .select('phone_key')
      .where(
        sql<boolean>`id::text in (select jsonb_array_elements_text(data #> '{payload,contactIds}') from pgboss.job
          where data->>'job' = ${inboxContactTier.name} and state = 'created')`,
      )
      .where('phone_key', 'not in', ['p7', 'p8', 'p9'])
      .orderBy('phone_key')
      .execute()
    expect(queued.map((row) => row.phone_key)).toEqual(['p50', 'p60'])
  })
})

const changed = (i: number) => ({
  before: null,
  after: { id: `o${i}`, phone_key: `p${i}`, customer_id: `c${i}` },
})
