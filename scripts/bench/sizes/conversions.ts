/** Statistics and the home page of a store with a million conversions over 730 days (statistics, rule 3). */
import { connectEcommerce } from '#operations/store/connections/connections'
import { seedLoad } from '#scripts/seed/load'
import { type Area, daysBefore, lastDays, timed } from '../area.ts'

const conversions = `/v1/conversions?sourceType=automation&${lastDays(731)}`

export default {
  rows: 1_000_000,
  async prepare({ services, rows, report }, { ctx }) {
    await connectEcommerce(ctx, 'sandbox', { token: 'sandbox' })
    await seedLoad(services, { stores: 3, conversions: Math.ceil(rows / 500), days: 730 })
    const atMostMs = (120_000 * Math.max(rows, 50_000)) / 1_000_000
    const one = { store: ctx.store.slug, conversions: rows, days: 730 }
    report(`seed load of ${rows} conversions`, atMostMs, [await timed(() => seedLoad(services, one))])
    return {}
  },
  checks: () => [
    ['summary by day, 731 days', `/v1/conversions/summary?${lastDays(731)}&groupBy=day`, 300],
    ['summary by week, 731 days', `/v1/conversions/summary?${lastDays(731)}&groupBy=week`, 300],
    ['summary by month, 731 days', `/v1/conversions/summary?${lastDays(731)}&groupBy=month`, 300],
    ['recovered total', '/v1/conversions/recovered-total', 100],
    ['conversions, page 1 of 500', `${conversions}&limit=500`, 300],
    ['conversions, page 2,000 of 20', `${conversions}&page=2000`, 1500],
    ['products, 365 days', `/v1/statistics/products?${lastDays(365)}`, 1000],
    ['overview, 90 days', '/v1/dashboard/overview?period=90d', 200],
    ['overview, 24 hours', '/v1/dashboard/overview?period=24h', 200],
  ],
  jobs: () => [
    {
      name: 'export of all conversions',
      path: `/v1/conversions/export?startDate=${daysBefore(730)}&endDate=${daysBefore(0)}&status=all`,
      atMostMs: 120_000,
      atMostMiB: 256,
      done: `select 1 from exports where store_id = {store} and name = 'conversions-export' and status = 'completed'`,
    },
  ],
} satisfies Area
