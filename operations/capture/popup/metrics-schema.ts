import { count, currency, day, id, money, object, z } from '#runtime/schema'

const rate = z.number().nullable().describe('In per cent; null without impressions')

export const popupMetrics = object({
  startDate: day,
  endDate: day,
  impressions: count,
  visitors: count.describe('Each once a day'),
  subscribers: count.describe('Subscribers won by the popup'),
  emails: count,
  phones: count,
  unsubscribed: count,
  conversionRate: rate,
  couponsIssued: count,
  attributed: object({ orders: count, revenue: money, currency }).describe(
    'Counted orders by the day they were placed, less refunds',
  ),
  prizes: z.array(object({ id, label: z.string(), won: count })),
  series: z.array(object({ date: day, impressions: count, subscribers: count })),
  previous: object({ impressions: count, subscribers: count, conversionRate: rate }).describe(
    'As many days just before',
  ),
})
