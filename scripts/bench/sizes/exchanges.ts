/** A store with 200,000 requests for exchanges and returns: its list, filters, searches, figures, and the export. */
import { type RawBuilder, sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { area, type Measure } from '../area.ts'

interface Filled {
  storeId: string
  key: string
  range(days: number): string
}

const timezone = 'America/Sao_Paulo'
const days = 730
const products = 300
const neighbours = 20
const atMostMs = 100
const sampleId = '01900000-0000-7000-8000-000000000002'

export default area<Filled>({
  name: 'exchanges',
  description: 'The list, filters, searches and figures of requests, one of them, the export',
  rows: 200_000,

  async prepare({ database, timed }, rows) {
    const now = new Date()
    const open = async (slug: string) => {
      const owner = `owner@${slug}.example.com`
      const made = { slug, name: slug, owner, plan: 'scale', country: 'BR', currency: 'BRL', timezone }
      const { id } = await createStore(database, now, made)
      return { id, owner }
    }
    const { id, owner } = await open('bench-exchanges')
    const { key } = await createKey(database, now, { storeId: id, member: owner, scopes: [...allScopes] })
    await timed(`filling with ${rows} requests`, null, () => fill(database.root, id, rows))
    // The planner must meet what it meets in production: a store is one of many in a table.
    for (let i = 1; i <= neighbours; i += 1) {
      await fill(database.root, (await open(`bench-neighbour-${i}`)).id, 500)
    }
    const dayOf = (at: number): string =>
      new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(at)
    const range = (count: number): string =>
      `startDate=${dayOf(now.getTime() - (count - 1) * 86_400_000)}&endDate=${dayOf(now.getTime())}`
    return { storeId: id, key, range }
  },

  measures({ storeId, key, range }) {
    const read = (name: string, path: string, text: string): Measure => ({
      name,
      path: `/v1/product-exchanges/${path}`,
      key,
      atMostMs,
      bare: { text, values: [storeId] },
    })
    const list = (name: string, query: string, condition = 'true', offset = 0): Measure =>
      read(
        `list: ${name}`,
        `requests?${query}`,
        `select * from exchange_requests where store_id = $1 and ${condition}
         order by created_at desc, id desc offset ${offset} limit 20`,
      )
    // The page has no time for these: so many requests in a year are no store's.
    const metrics = (count: number): Measure => ({
      ...read(
        `metrics: ${count} days`,
        `metrics?${range(count)}`,
        `select count(*), sum(amount) from exchange_requests
         where store_id = $1 and created_at > now() - interval '${count} days'`,
      ),
      atMostMs: null,
    })
    return [
      list('page 1', 'page=1'),
      list('page 5,000', 'page=5000', 'true', 99_980),
      list('requested', 'status=requested', `status = 'requested'`),
      list('completed, page 2,000', 'status=completed&page=2000', `status = 'completed'`, 39_980),
      list(
        'open',
        'status=requested,approved,in-transit',
        `status in ('requested', 'approved', 'in-transit')`,
      ),
      list('exchanges', 'type=exchange', `type = 'exchange'`),
      list('by a reason', 'reason=wrong-size', `reasons && array['wrong-size']`),
      list('by a rare reason', 'reason=wrong-item', `reasons && array['wrong-item']`),
      list('by a reason that none has', 'reason=none', `reasons && array['none']`),
      list('late', 'outsideWindow=true', 'outside_window'),
      list('late exchanges that wait', 'outsideWindow=true&type=exchange&status=requested', 'outside_window'),
      list('30 days', range(30), `created_at > now() - interval '30 days'`),
      list('365 days, returns', `${range(365)}&type=return`, `type = 'return'`),
      list('search: a number', 'search=EX-4711', `search_text like '%ex-4711%'`),
      list('search: a customer', 'search=pessoa%204711', `search_text like '%pessoa 4711%'`),
      list('search: a phone', 'search=(11)%2090000-4711', `search_text like '%11900004711%'`),
      list('search: a word that all have', 'search=produto', `search_text like '%produto%'`),
      list('search: a word that none has', 'search=inexistente', `search_text like '%inexistente%'`),
      list('search: two letters', 'search=47', `search_text like '%47%'`),
      list(
        'search within requested',
        'status=requested&search=produto%2047',
        `search_text like '%produto 47%'`,
      ),
      metrics(30),
      metrics(365),
      read(
        'one request',
        `requests/${sampleId}`,
        `select * from exchange_requests where store_id = $1 and id = '${sampleId}'`,
      ),
    ]
  },

  jobs({ storeId, key }) {
    return [
      {
        name: 'export of all requests',
        path: '/v1/product-exchanges/export',
        key,
        atMostMs: null,
        atMostMiB: null,
        done: {
          text: `select 1 from exports where store_id = $1 and name = 'exchange-export' and status = 'completed'`,
          values: [storeId],
        },
      },
    ]
  },
})

/** Requests over two years, in SQL: the oldest first, as they come in; every third with two items. */
async function fill(db: RootDatabase, storeId: string, rows: number): Promise<void> {
  const id = sql.lit(storeId)
  const run = (text: RawBuilder<unknown>): Promise<unknown> => text.execute(db)
  await run(sql`
    insert into exchange_requests (store_id, id, number, type, status, order_id, order_number, order_placed_at,
      customer_name, customer_email, customer_phone, reasons, amount, currency, outside_window, return_method,
      refund_amount, search_text, approved_at, rejected_at, completed_at, created_at, updated_at)
    select ${id}, case when n = 1 then ${sql.lit(sampleId)}::uuid else gen_random_uuid() end, 'EX-' || 1000 + n,
      type, status, 'o' || n / 2, (n / 2)::text, at,
      'Pessoa ' || n, 'pessoa' || n || '@example.com', phone, array[reason],
      10 + n % 400, 'BRL', n % 50 = 0, 'customer-ships', case when status = 'completed' then 10 end,
      concat_ws(e'\n', 'ex-' || 1000 + n, n / 2, 'pessoa ' || n, 'pessoa' || n || '@example.com', phone,
        'produto ' || n % ${sql.lit(products)}, 'sku-' || n % ${sql.lit(products)}),
      case when status in ('approved', 'in-transit', 'completed') then at + interval '5 hours' end,
      case when status = 'rejected' then at + interval '9 hours' end,
      case when status = 'completed' then at + interval '9 days' end, at, at
    from generate_series(${sql.lit(rows)}, 1, -1) n
    cross join lateral (select now() - n * (interval '1 day' * ${sql.lit(days)} / ${sql.lit(rows)}) as at,
      '+55119' || lpad(n::text, 8, '0') as phone,
      case when n % 3 = 0 then 'exchange' else 'return' end as type,
      case when n % 100 < 3 then 'requested' when n % 100 < 5 then 'approved' when n % 100 < 6 then 'in-transit'
        when n % 100 < 18 then 'rejected' when n % 100 < 22 then 'cancelled' else 'completed' end as status,
      case when n % 5000 = 1 then 'wrong-item' when n % 4 = 0 then 'changed-mind' else 'wrong-size' end as reason) v`)
  await run(sql`
    insert into exchange_items (store_id, id, request_id, position, order_item_id, product_id, sku, name, quantity,
      approved_quantity, line_total, line_quantity, unit_price, reason, reason_label, requested_at)
    select ${id}, gen_random_uuid(), r.id, k, 'i' || k, 'p' || p, 'sku-' || p, 'Produto ' || p, 1, 1, 100, 1, 100,
      r.reasons[1], r.reasons[1], r.created_at
    from (select *, substr(number, 4)::int as n from exchange_requests where store_id = ${id}) r
    cross join lateral generate_series(1, case when n % 3 = 0 then 2 else 1 end) k
    cross join lateral (select (n + k) % ${sql.lit(products)} as p) product
    order by r.created_at`)
  await run(sql`
    insert into exchange_history (store_id, id, request_id, at, event, to_status, actor_type)
    select ${id}, gen_random_uuid(), id, created_at, 'requested', 'requested', 'customer'
    from exchange_requests where store_id = ${id}`)
}
