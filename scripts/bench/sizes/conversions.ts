/** Statistics and the home page of a store with a million conversions (statistics, rule 3). */

import { connectEcommerce } from '#operations/store/connections/connections'
import { SystemContext } from '#runtime/context'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { seedLoad } from '../../seed/load.ts'
import { area, type Measure } from '../area.ts'

interface Filled {
  storeId: string
  key: string
  /** The last local day, and so many days before it. */
  today: string
  daysBefore(days: number): string
}

const timezone = 'America/Sao_Paulo'
const days = 730
const slug = 'bench-conversions'

export default area<Filled>({
  name: 'conversions',
  description: 'Summaries, conversions, products, orders, the home page and the export over 730 days',
  rows: 1_000_000,

  async prepare({ database, services, timed }, rows) {
    const owner = `owner@${slug}.example.com`
    const made = { slug, name: slug, owner, plan: 'scale', country: 'BR', currency: 'BRL', timezone }
    const now = new Date()
    const { id } = await createStore(database, now, made)
    const ctx = await new SystemContext(services, services.log, 'bench').forStore(id)
    await connectEcommerce(ctx!, 'sandbox', { token: 'sandbox' })
    const { key } = await createKey(database, now, { storeId: id, member: owner, scopes: [...allScopes] })
    await seedLoad(services, { stores: 3, conversions: Math.ceil(rows / 500), days })
    await timed(`seed load of ${rows} conversions`, (120_000 * Math.max(rows, 50_000)) / 1_000_000, () =>
      seedLoad(services, { store: slug, conversions: rows, days }),
    )
    const dayOf = (at: number): string =>
      new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(at)
    const daysBefore = (count: number): string => dayOf(now.getTime() - count * 86_400_000)
    return { storeId: id, key, today: dayOf(now.getTime()), daysBefore }
  },

  measures({ storeId, key, today, daysBefore }) {
    const read = (
      name: string,
      path: string,
      atMostMs: number | null,
      text: string,
      values: unknown[] = [],
    ): Measure => ({ name, path: `/v1${path}`, key, atMostMs, bare: { text, values: [storeId, ...values] } })
    const range = (count: number): string => `startDate=${daysBefore(count - 1)}&endDate=${today}`
    const since = (count: number): unknown => `${daysBefore(count - 1)}T03:00:00Z`
    const sums = `select * from conversion_days where store_id = $1 and day >= $2::date`
    const activity = `select * from activity_days where store_id = $1 and day >= $2::date`
    const placed = (table: string, offset: number, limit: number, condition = 'true'): string =>
      `select * from ${table} where store_id = $1 and placed_at >= $2 and ${condition}
       order by placed_at desc, id desc offset ${offset} limit ${limit}`
    const counted = `source_type = 'automation' and status in ('confirmed', 'partially-refunded')`
    const summary = (groupBy: string): Measure =>
      read(
        `summary by ${groupBy}, 731 days`,
        `/conversions/summary?${range(731)}&groupBy=${groupBy}`,
        300,
        sums,
        [daysBefore(730)],
      )
    const conversions = (name: string, query: string, atMostMs: number | null, text: string): Measure =>
      read(name, `/conversions?sourceType=automation&${range(731)}&${query}`, atMostMs, text, [since(731)])
    const orders = (name: string, query: string, text: string): Measure =>
      read(name, `/analytics/orders?${range(365)}&${query}`, null, text, [since(365)])
    return [
      summary('day'),
      summary('week'),
      summary('month'),
      read('recovered total', '/conversions/recovered-total', 100, sums, ['2000-01-01']),
      conversions('conversions, page 1 of 500', 'limit=500', 300, placed('conversions', 0, 500, counted)),
      conversions(
        'conversions, page 2,000 of 20',
        'page=2000',
        1500,
        placed('conversions', 39_980, 20, counted),
      ),
      conversions(
        'conversions of one source id',
        'sourceId=load-0&limit=20',
        null,
        placed('conversions', 0, 20, `source_id = 'load-0' and ${counted}`),
      ),
      read(
        'products, 365 days',
        `/statistics/products?${range(365)}`,
        1000,
        `select product_id, sum(revenue) from conversion_product_days where store_id = $1 and day >= $2::date
         group by product_id`,
        [daysBefore(364)],
      ),
      read('statistics, 365 days', `/statistics?${range(365)}`, null, activity, [daysBefore(364)]),
      read('dashboard, 365 days', `/dashboard?${range(365)}`, null, activity, [daysBefore(364)]),
      read('overview, 90 days', '/dashboard/overview?period=90d', 200, activity, [daysBefore(179)]),
      read('overview, 24 hours', '/dashboard/overview?period=24h', 200, activity, [daysBefore(2)]),
      orders('orders, page 1', 'page=1', placed('orders', 0, 20)),
      orders('orders, page 2,000', 'page=2000', placed('orders', 39_980, 20)),
      orders(
        'orders, of one customer',
        'search=customer4711%40',
        placed('orders', 0, 20, `lower(customer_email) like '%customer4711@%'`),
      ),
      orders(
        'orders, a name that all have',
        'search=Customer',
        placed('orders', 0, 20, `lower(customer_name) like '%customer%'`),
      ),
      orders(
        'orders, a name that none has',
        'search=nobody',
        placed('orders', 0, 20, `lower(customer_name) like '%nobody%'`),
      ),
    ]
  },

  jobs({ storeId, key, today, daysBefore }) {
    return [
      {
        name: 'export of all conversions',
        path: `/v1/conversions/export?startDate=${daysBefore(730)}&endDate=${today}&status=all`,
        key,
        atMostMs: 120_000,
        atMostMiB: 256,
        done: {
          text: `select 1 from exports where store_id = $1 and name = 'conversions-export' and status = 'completed'`,
          values: [storeId],
        },
      },
    ]
  },
})
