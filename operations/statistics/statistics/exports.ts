/** The figures and conversions as CSV (rule 8). */
import { amounts, days, type exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { amountText } from '#runtime/values/money'
import { type ConversionFilters, conversionsAfter, selectedBy } from '../conversions/conversions.ts'
import { features } from '../schema.ts'
import { conversionDays } from '../sums.ts'
import { listProducts } from './products.ts'
import { messagesOf, sentByDay } from './statistics.ts'

const atOnce = 200

export const conversionsExport: exports.ExportSource = {
  title: 'Conversions',
  columns: () => [
    'order_number',
    'placed_at',
    'status',
    'source_type',
    'source_name',
    'channel',
    'customer_name',
    'customer_email',
    'customer_phone',
    'products',
    'currency',
    'order_total',
    'refunded',
    'revenue',
    'coupon',
    'touched_at',
  ],
  async *rows(ctx, query) {
    const selected = selectedBy(ctx, query as ConversionFilters)
    let after: { placedAt: string; id: string } | null = null
    for (;;) {
      const page = await conversionsAfter(ctx, selected, after, atOnce)
      yield page.map((row) => {
        const customer = row.customer as Record<'name' | 'email' | 'phone', string | null>
        return [
          row.order_number,
          row.placed_at,
          row.status,
          row.source_type,
          row.source_name,
          row.channel,
          customer.name,
          customer.email,
          customer.phone,
          row.products,
          row.currency,
          row.order_total,
          row.refunded_total,
          row.revenue,
          row.coupon_code,
          row.touched_at,
        ]
      })
      const last = page.at(-1)
      if (!last || page.length < atOnce) return
      after = { placedAt: last.place, id: last.id }
    }
  },
}

interface StatisticsQuery {
  startDate: string
  endDate: string
  currency: string
  type: 'overview' | 'products'
}

export const statisticsExport: exports.ExportSource = {
  title: 'Statistics',
  columns: (_ctx, query) =>
    (query as unknown as StatisticsQuery).type === 'products'
      ? ['product_id', 'name', 'source_type', 'orders', 'units', 'revenue', 'currency']
      : [
          'date',
          'feature',
          'messages_sent',
          'emails_sent',
          'delivered',
          'read',
          'failed',
          'conversions',
          'revenue',
          'currency',
        ],
  rows: (ctx, query) => {
    const asked = query as unknown as StatisticsQuery
    return asked.type === 'products' ? productRows(ctx, asked) : overviewRows(ctx, asked)
  },
}

/** Each day with each of the eight features. */
async function* overviewRows(ctx: Context, query: StatisticsQuery) {
  const range = { startDate: query.startDate, endDate: query.endDate }
  const sent = Map.groupBy(await sentByDay(ctx, { ...range, timezone: ctx.store.timezone }), (row) => row.day)
  const brought = Map.groupBy((await conversionDays(ctx, range, query.currency)).rows, (row) => row.day)
  for (const date of days.daysOf(range)) {
    yield features.map((feature) => {
      const messages = messagesOf((sent.get(date) ?? []).filter((row) => row.source === feature))
      const row = (brought.get(date) ?? []).find((each) => each.source_type === feature)
      return [
        date,
        feature,
        messages.messagesSent,
        messages.emailsSent,
        messages.delivered,
        messages.read,
        messages.failed,
        row?.orders ?? 0,
        amounts.toMoney(amounts.toCents(row?.revenue ?? '0')),
        query.currency,
      ]
    })
  }
}

interface ProductPage {
  data: {
    productId: string
    name: string
    bySource: Record<string, { orders: number; units: number; revenue: number }>
  }[]
}

/** A row for each product and source that sold it, the most revenue first. */
async function* productRows(ctx: Context, query: StatisticsQuery) {
  const { startDate, endDate, currency } = query
  for (let page = 1; ; page += 1) {
    const { text } = await listProducts(ctx, {
      startDate,
      endDate,
      currency,
      sort: '-revenue',
      page,
      limit: 500,
    })
    const { data } = JSON.parse(text) as ProductPage
    yield data.flatMap(({ productId, name, bySource }) =>
      Object.entries(bySource)
        .filter(([, figures]) => figures.orders > 0)
        .map(([source, { orders, units, revenue }]) => [
          productId,
          name,
          source,
          orders,
          units,
          amountText(revenue),
          currency,
        ]),
    )
    if (data.length < 500) return
  }
}
