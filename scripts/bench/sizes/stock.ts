/** A product that 50,000 people wait for, and the wave in which all of them are told. */
import { sql } from 'kysely'
import { connectEcommerce } from '#operations/store/connections/connections'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { SystemContext } from '#runtime/context'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { connectNumber } from '#scripts/seed/connect-number'
import { area, type Measure } from '../area.ts'

interface Filled {
  storeId: string
  key: string
  people: number
}

const slug = 'bench-stock'
const variantId = 'v1'

export default area<Filled>({
  name: 'stock',
  description: 'Lists and metrics of 50,000 who wait for one variant, and the wave that tells all of them',
  rows: 50_000,

  async prepare({ database, services }, people) {
    const owner = `owner@${slug}.example.com`
    const now = new Date()
    const made = { slug, name: slug, owner, plan: 'scale', country: 'BR', currency: 'BRL' }
    const { id } = await createStore(database, now, { ...made, timezone: 'America/Sao_Paulo' })
    const ctx = (await new SystemContext(services, services.log, 'bench').forStore(id))!
    const shop = { db: database.root, clock: services.clock, storeId: id }
    await putProducts(shop, [
      { id: 'p1', name: 'Lamp', variants: [{ id: variantId, price: 99, stock: Math.ceil(people / 2) }] },
    ])
    await connectEcommerce(ctx, 'sandbox', { token: 'sandbox' })
    await connectNumber(ctx, { type: 'qr', phone: '+5511400010001' })
    const { key } = await createKey(database, now, { storeId: id, member: owner, scopes: [...allScopes] })
    // 60 % by email, as in the demo; a minute apart.
    const isEmail = sql`n % 5 < 3`
    await sql`
      insert into stock_subscriptions (store_id, id, product_id, variant_id, product_name, channel, email, phone,
        contact_key, name, source, status, click_token, created_at, updated_at)
      select ${id}::uuid, uuid_v7(at), 'p1', ${variantId}::text, 'Lamp',
        case when ${isEmail} then 'email' else 'phone' end, email, phone, coalesce(email, phone),
        'Shopper ' || n, 'product-page', 'waiting', md5(n::text), at, at
      from (select n, date_trunc('milliseconds', now()) - (${people}::int - n + 1) * interval '10 minutes' / 2 as at,
          case when ${isEmail} then 'shopper-' || n || '@example.com' end as email,
          case when not ${isEmail} then '+55119' || (20000000 + n * 10 + 5) end as phone
        from generate_series(1, ${people}::int) n) people`.execute(database.root)
    return { storeId: id, key, people }
  },

  measures({ storeId, key, people }) {
    const read = (name: string, query: string, where = 'true', offset = 0): Measure => ({
      name,
      path: `/v1/stock-notifications/list?${query}`,
      key,
      atMostMs: null,
      bare: {
        text: `select * from stock_subscriptions where store_id = $1 and status = 'waiting' and ${where}
          order by created_at desc, id desc offset ${offset} limit 20`,
        values: [storeId],
      },
    })
    const last = Math.max(1, Math.floor(people / 20))
    return [
      read('list, page 1', 'page=1'),
      read('list, the last page', `page=${last}`, 'true', (last - 1) * 20),
      read('list, phones', 'channel=phone', `channel = 'phone'`),
      read('list, of one person', 'search=shopper-4711%40', `lower(email) like '%shopper-4711@%'`),
      read('list, a name that all have', 'search=shopper', `lower(name) like '%shopper%'`),
      {
        name: 'metrics, 30 days',
        path: '/v1/stock-notifications/metrics',
        key,
        atMostMs: null,
        bare: {
          text: "select count(*) from stock_subscriptions where store_id = $1 and created_at > now() - interval '30 days'",
          values: [storeId],
        },
      },
    ]
  },

  jobs({ storeId, key, people }) {
    return [
      {
        name: 'wave that tells everybody',
        // Turned on, they find that the stock came back.
        path: '/v1/stock-notifications/settings',
        body: { isEnabled: true },
        key,
        atMostMs: null,
        atMostMiB: null,
        // Each of them once: as many keys and contacts left as there are people.
        done: {
          text: `select 1 where not exists (select 1 from stock_subscriptions
              where store_id = $1 and status in ('waiting', 'sending'))
            and (select (count(*), count(distinct contact), max(calls)) = ($2::bigint, $2::bigint, 1) from (
              select phone as contact, calls from sandbox_messages
              union all select to_address, calls from sandbox_mail) told)`,
          values: [storeId, people],
        },
      },
    ]
  },
})
