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
  searchText,
  text,
  z,
} from '#runtime/schema'

const subscriptionStatus = z.enum(['waiting', 'sending', 'sent', 'failed', 'cancelled'])
const channel = z.enum(['email', 'phone'])
export type Channel = z.infer<typeof channel>
export const source = z.enum(['product-page', 'product-list'])

/** Why a subscription is `failed` or `cancelled`. */
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
    volatileFields: [
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
  channel: channel.optional().describe('Only shoppers who left an email, or only those who left a phone'),
  productId: platformId.optional().describe('Only requests for this product'),
  variantId: platformId.optional().describe('Only requests for this variant'),
  search: searchText('In email, phone, name or product', 100),
  startDate: day.optional().describe('By createdAt'),
  endDate: day.optional(),
  sort: z
    .enum(['newest', 'oldest'])
    .default('newest')
    .describe('Oldest: the order in which people are notified'),
}
const buildStatusFilter = (standard: z.infer<typeof statusOrAll>) =>
  queryList(statusOrAll).default([standard]).describe('One or more, comma-separated, or `all`')

export const subscriptionQuery = object({ ...paging, status: buildStatusFilter('waiting'), ...filters })
export const exportQuery = object({ status: buildStatusFilter('all'), ...filters })
export type SubscriptionQuery = z.infer<typeof exportQuery>

const channelMetrics = object({ subscribers: count, alertsSent: count })
export const stockMetrics = named(
  'StockMetrics',
  object({
    startDate: day,
    endDate: day,
    subscribers: count.describe('Subscriptions made in the period'),
    waiting: count.describe('Now'),
    alertsSent: count.describe('Alerts sent in the period, by either channel'),
    failed: count.describe('Alerts that failed in the period'),
    conversions: count.describe('Orders placed in the period that alerts brought'),
    conversionRate: z
      .number()
      .nullable()
      .describe('Percent of the alerts sent in the period that have brought an order by now'),
    revenue: money.describe('Of these conversions, less refunds'),
    currency,
    byChannel: object({ email: channelMetrics, phone: channelMetrics }),
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

declare module '#operations/messaging/outbox/outbox-source' {
  interface FailureCodes extends Record<Reason, true> {}
}
