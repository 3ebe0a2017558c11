/** Response schemas of an automation's reports. */
import { messageReason } from '#operations/messaging/index'
import { count, currency, day, instant, money, object, percent, z } from '#runtime/schema'
import { execution } from '../engine/execution-schema.ts'

const rate = percent.nullable().describe('Percent of sent, two decimals; null at 0')

/**
 * The report counts a conversion on the day of the message. Statistics, conversions and the dashboard count it on the
 * day of the order.
 */
const ofMessages = count.describe(
  'Messages of these days that brought a counted order by now, whenever; statistics and conversions go by the day of the order',
)
const ofTheirOrders = money.describe('Of the orders of these messages, less refunds')

export const report = object({
  startDate: day,
  endDate: day,
  timezone: z.string(),
  summary: object({
    total: count.describe('pending + sent + failed without having been sent + skipped + cancelled'),
    pending: count.describe('Now, whatever the days'),
    sent: count,
    delivered: count,
    read: count,
    failed: count.describe('Those never sent included'),
    skipped: count,
    cancelled: count,
    converted: ofMessages,
    revenue: ofTheirOrders,
    currency,
    deliveryRate: rate,
    readRate: rate,
    conversionRate: rate,
  }),
  byDay: z.array(
    object({
      date: day,
      sent: count,
      delivered: count,
      failed: count,
      converted: ofMessages,
      revenue: ofTheirOrders,
    }),
  ),
  data: z.array(execution),
  page: z.number().int(),
  limit: z.number().int(),
  total: count.describe('Messages on all pages'),
})

export const failures = object({
  startDate: day,
  endDate: day,
  total: count,
  data: z.array(
    object({
      outcome: z.enum(['failed', 'skipped']),
      code: messageReason,
      reason: z.string().describe('In one sentence'),
      count,
      share: percent.describe('Percent of total, one decimal'),
      lastAt: instant,
    }),
  ),
})

export const flowStats = object({
  version: z.number().int().nullable(),
  startDate: day,
  endDate: day,
  runs: count.describe('That entered on the days'),
  steps: z.array(
    object({
      stepId: z.string().nullable().describe('Null: the first message'),
      type: z.enum(['wait', 'purchase-check', 'coupon', 'message']),
      entered: count,
      waiting: count.describe('Standing there now'),
      sent: count,
      delivered: count,
      read: count,
      failed: count,
      skipped: count,
      converted: count.describe('Messages with a counted order by now'),
      purchased: count,
      notPurchased: count,
      couponsIssued: count,
      couponsUsed: count,
    }),
  ),
})
