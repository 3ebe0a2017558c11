import { count, currency, day, id, instant, money, named, object, z } from '#runtime/schema'
import { sourceTypes } from '../sums/revenue-rules.ts'
import { pendingTypes } from './home-parts.ts'

const channel = z
  .enum([...sourceTypes, 'direct'])
  .describe('What the orders came from; direct: no message of ours')

export const dashboard = named(
  'Dashboard',
  object({
    startDate: day,
    endDate: day,
    timezone: z.string(),
    currency,
    recoveredRevenue: money.describe('Of counted conversions: orders that a message brought about'),
    recoveredOrders: count.describe('The same orders'),
    totalRevenue: money.describe('Of all counted orders: paid, not cancelled, less refunds'),
    totalOrders: count.describe('One that was refunded whole counts no more'),
    recoveredShare: z.number().nullable().describe('Recovered of total revenue, in per cent; null at 0'),
    salesByChannel: z
      .array(object({ channel, orders: z.number().int(), revenue: money }))
      .describe('The four sources, then direct; they add up to the totals'),
    newSubscribers: count.describe('Popup subscribers created in the period'),
  }),
)

export const periods = ['24h', '7d', '30d', '90d'] as const

const metricSchema = <V extends z.ZodTypeAny>(value: V) =>
  object({
    value,
    previousValue: value,
    changePercent: z.number().nullable().describe('One decimal; null when the previous value is 0 or null'),
    series: z.array(
      object({
        at: instant.describe('First instant of the hour or day'),
        value,
        previousValue: value,
        isPartial: z.boolean().describe('Not over yet'),
      }),
    ),
  })
const countMetric = named('CountMetric', metricSchema(count))

export const dashboardOverview = named(
  'DashboardOverview',
  object({
    period: z.enum(periods),
    granularity: z.enum(['hour', 'day']),
    timezone: z.string(),
    currency,
    startAt: instant,
    endAt: instant,
    previousStartAt: instant,
    previousEndAt: instant,
    metrics: object({
      recoveredRevenue: metricSchema(money),
      messagesSent: countMetric,
      conversionRate: metricSchema(z.number().nullable()).describe(
        'Of the messages that count as a touch, those with a counted conversion, in per cent',
      ),
      cartsRecovered: countMetric,
      newSubscribers: countMetric,
      stockAlertRequests: countMetric,
    }),
    revenueByChannel: z.array(
      object({ channel, orders: z.number().int(), revenue: money, previousRevenue: money }),
    ),
    pendingItems: z.array(object({ type: z.enum(pendingTypes), count })),
    latestSales: z
      .array(
        object({
          id,
          orderNumber: z.string(),
          customerName: z.string().nullable(),
          sourceType: z.enum(sourceTypes),
          sourceName: z.string().nullable(),
          revenue: money,
          currency,
          placedAt: instant,
        }),
      )
      .describe('The five newest counted conversions'),
    recentReviews: z
      .array(
        object({
          id,
          productName: z.string().nullable(),
          customerName: z.string().nullable(),
          rating: z.number().int().min(1).max(5),
          text: z.string().nullable(),
          status: z.string(),
          createdAt: instant,
        }),
      )
      .describe('The five newest'),
  }),
)
