import {
  count,
  currency,
  day,
  id,
  instant,
  money,
  named,
  object,
  paging,
  queryList,
  text,
  z,
} from '#runtime/schema'

const subscriptionStatus = z.enum(['waiting', 'sending', 'sent', 'failed', 'cancelled'])
const channel = z.enum(['email', 'phone'])
export type Channel = z.infer<typeof channel>
export const source = z.enum(['product-page', 'product-list'])

/** Of `failed` and `cancelled`. */
export const reason = z.enum([
  'not-on-network',
  'undelivered',
  'bounced',
  'opted-out',
  'unsubscribed',
  'product-gone',
  'expired',
  'provider-error',
  'unknown-outcome',
])
export type Reason = z.infer<typeof reason>

export const stockSubscription = named(
  'StockSubscription',
  object({
    id,
    productId: z.string(),
    variantId: z.string(),
    productName: z.string(),
    variantName: z.string().nullable(),
    sku: z.string().nullable(),
    productUrl: z.string().nullable(),
    productImageUrl: z.string().nullable(),
    channel,
    email: z.string().nullable(),
    phone: z.string().nullable().describe('E.164'),
    name: z.string().nullable(),
    source: source.describe('Where the shopper left it'),
    status: subscriptionStatus,
    reason: reason.nullable().describe('Why it failed or was cancelled'),
    sentAt: instant.nullable(),
    deliveredAt: instant.nullable().describe('Of phones: an email has no such report'),
    convertedAt: instant.nullable().describe('When the order it brought was placed'),
    convertedOrderId: z.string().nullable(),
    revenue: money.nullable(),
    currency: currency.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
  {
    moves: [
      'status',
      'reason',
      'sentAt',
      'deliveredAt',
      'convertedAt',
      'convertedOrderId',
      'revenue',
      'currency',
      'updatedAt',
    ],
  },
)

const statusOrAll = z.enum([...subscriptionStatus.options, 'all'])
const platformId = text(1, 64)

const filters = {
  channel: channel.optional(),
  productId: platformId.optional(),
  variantId: platformId.optional(),
  search: text(1, 100).optional().describe('Within email, phone, name or product'),
  startDate: day.optional().describe('By createdAt'),
  endDate: day.optional(),
  sort: z.enum(['newest', 'oldest']).default('newest').describe('Oldest: the order in which people are told'),
}
const statusOf = (standard: z.infer<typeof statusOrAll>) =>
  queryList(statusOrAll).default([standard]).describe('One or more, comma-separated, or `all`')

export const subscriptionQuery = object({ ...paging, status: statusOf('waiting'), ...filters })
export const exportQuery = object({ status: statusOf('all'), ...filters })
export type SubscriptionQuery = z.infer<typeof exportQuery>

const ofChannel = object({ subscribers: count, alertsSent: count })
export const stockMetrics = named(
  'StockMetrics',
  object({
    startDate: day,
    endDate: day,
    subscribers: count.describe('Who subscribed in the period'),
    waiting: count.describe('Now'),
    alertsSent: count.describe('What left in the period, by either channel'),
    failed: count.describe('What failed in the period'),
    conversions: count.describe('Orders placed in the period that alerts brought'),
    conversionRate: z
      .number()
      .nullable()
      .describe('Of the alerts sent in the period, those that have brought an order by now, in percent'),
    revenue: money.describe('Of these conversions, less refunds'),
    currency,
    byChannel: object({ email: ofChannel, phone: ofChannel }),
    topProducts: z
      .array(
        object({
          productId: z.string(),
          variantId: z.string(),
          productName: z.string(),
          variantName: z.string().nullable(),
          waiting: count,
        }),
      )
      .describe('The ten variants that most people wait for'),
  }),
)

declare module '#operations/messaging/outbox/lane' {
  interface Codes extends Record<Reason, true> {}
}
