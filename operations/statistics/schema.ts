/** Schemas of statistics, conversions and orders. */
import { sourceTypes } from '#operations/store/index'
import { count, currency, day, id, instant, money, named, object, queryList, z } from '#runtime/schema'

export const sourceType = z.enum(sourceTypes)
export const features = [
  'automation',
  'messaging-campaign',
  'newsletter',
  'stock-notification',
  'review-request',
  'exchange',
  'inbox',
  'direct',
] as const

export const range = {
  startDate: day.optional().describe('29 days before endDate unless said'),
  endDate: day.optional().describe('Today unless said'),
}
export const currencyFilter = currency
  .optional()
  .describe("The store's unless said; amounts are never converted")

const figures = named('ConversionFigures', object({ orders: count, revenue: money }))
const bySource = named(
  'FiguresBySource',
  object({
    automation: figures,
    'messaging-campaign': figures,
    newsletter: figures,
    'stock-notification': figures,
  }),
)

const messages = {
  messagesSent: count.describe('On the messaging channel'),
  emailsSent: count,
  delivered: count.describe('Of the messages sent, by now'),
  read: count,
  failed: count.describe(
    'Of the messages sent; what never left is in the reports of automations and campaigns',
  ),
}

export const statistics = named(
  'Statistics',
  object({
    startDate: day,
    endDate: day,
    timezone: z.string(),
    currency,
    currencies: z.array(currency).describe('Those with conversions in the range'),
    ...messages,
    conversions: count.describe('Orders, by the day they were placed'),
    revenue: money.describe('Of these orders, less refunds'),
    averageOrderValue: money.nullable(),
    conversionRate: z
      .number()
      .nullable()
      .describe('Of the messages that count as a touch, those with a counted conversion by now, in per cent'),
    byFeature: z
      .array(object({ feature: z.enum(features), ...messages, conversions: count, revenue: money }))
      .describe('Always the eight; they add up to the totals'),
    byDay: z.array(object({ date: day, messagesSent: count, conversions: count, revenue: money })),
  }),
)

const productFigures = object({ orders: count, units: z.number().int(), revenue: money })
export const productStatistics = named(
  'ProductStatistics',
  object({
    productId: z.string(),
    name: z.string().describe('As it was seen last'),
    imageUrl: z.string().nullable(),
    orders: count.describe('An order counts once a product'),
    units: z.number().int().describe('Less refunded ones'),
    revenue: money.describe('Of its lines, less refunds, without shipping'),
    revenueShare: z.number().nullable().describe('Of all rows that match, all pages, in per cent'),
    bySource: object({
      automation: productFigures,
      'messaging-campaign': productFigures,
      newsletter: productFigures,
      'stock-notification': productFigures,
    }),
  }),
)

const customer = object({
  id: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
})
const lineShape = {
  productId: z.string().nullable(),
  variantId: z.string().nullable(),
  name: z.string(),
  sku: z.string().nullable(),
  imageUrl: z.string().nullable(),
  quantity: z.number().int(),
  unitPrice: money,
  total: money.describe('After discounts of the line'),
  refundedTotal: money,
}

const conversionStatus = z.enum(['pending', 'confirmed', 'partially-refunded', 'refunded', 'cancelled'])

export const conversion = named(
  'Conversion',
  object({
    id,
    orderId: z.string(),
    orderNumber: z.string(),
    status: conversionStatus,
    sourceType,
    sourceId: z
      .string()
      .describe('What made the touch: automation, campaign, popup subscriber, subscription'),
    sourceName: z.string().nullable().describe('As it was then'),
    automationType: z.string().nullable(),
    channel: z.enum(['messaging', 'email', 'storefront']),
    messageId: z.string().nullable(),
    customer,
    products: z.array(object(lineShape)),
    currency,
    orderTotal: money,
    refundedTotal: money,
    revenue: money,
    couponCode: z.string().nullable(),
    touchedAt: instant,
    placedAt: instant,
    paidAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)

export const groupings = ['day', 'week', 'month'] as const
export const bucket = named(
  'ConversionBucket',
  object({
    period: z.string().describe('2026-11-20, 2026-W47 or 2026-11'),
    startDate: day,
    endDate: day,
    isPartial: z.boolean().describe('Cut by the range, or not over yet'),
    orders: count,
    revenue: money,
    bySource,
  }),
)
export const summary = object({
  startDate: day,
  endDate: day,
  groupBy: z.enum(groupings),
  timezone: z.string(),
  currency,
  currencies: z.array(currency),
  data: z.array(bucket).describe('Oldest first, empty ones included'),
  totals: object({ orders: count, revenue: money, bySource }).describe(
    'Counted orders by the day they were placed, less refunds',
  ),
})

const address = z.record(z.unknown()).describe('As the platform returns it')
export const order = named(
  'Order',
  object({
    id: z.string(),
    number: z.string(),
    status: z.enum(['open', 'closed', 'cancelled']),
    paymentStatus: z.enum(['pending', 'paid', 'partially-refunded', 'refunded', 'voided']),
    fulfillmentStatus: z.enum(['unfulfilled', 'partial', 'shipped', 'delivered']),
    currency,
    subtotal: money,
    discount: money,
    shipping: money,
    total: money,
    refundedTotal: money,
    couponCodes: z.array(z.string()),
    customer,
    items: z.array(object({ id: z.string(), ...lineShape, refundedQuantity: z.number().int() })),
    attributedTo: sourceType.nullable(),
    paymentMethod: z.string().nullable(),
    paymentUrl: z.string().nullable(),
    statusUrl: z.string().nullable(),
    cartId: z.string().nullable(),
    trackingCode: z.string().nullable(),
    trackingUrl: z.string().nullable(),
    shippingAddress: address.nullable(),
    placedAt: instant,
    paidAt: instant.nullable(),
    shippedAt: instant.nullable(),
    deliveredAt: instant.nullable(),
    cancelledAt: instant.nullable(),
    updatedAt: instant,
  }),
)
export const orderStatuses = queryList(order.shape.status)
  .optional()
  .describe('Only orders with one of these states')
export const paymentStatuses = queryList(order.shape.paymentStatus)
  .optional()
  .describe('Only orders with one of these states of payment')

/** The `status` filter of conversion lists: a list of statuses, or `all`. */
export const statusFilter = queryList(z.union([conversionStatus, z.literal('all')]))
  .optional()
  .describe('Some of them, or `all`; confirmed and partially-refunded unless said')
