/** Orders and abandoned checkouts of the shop in GraphQL form. */
import { customerObject, gid, money } from './graph-objects.ts'
import { connection, type GraphObject, type PageArgs } from './graph-page.ts'
import type { Searchable } from './search-syntax.ts'
import type { Shop, StoredCheckout, StoredLine, StoredOrder } from './shop.ts'

const reference = (type: string, id: number | null) =>
  id === null ? null : { __typename: type, id: gid(type, id) }

const lineFields = (line: StoredLine) => ({
  title: line.title,
  sku: line.sku,
  quantity: line.quantity,
  product: reference('Product', line.product_id),
  variant: reference('ProductVariant', line.variant_id),
  image: line.image && { url: line.image },
  originalUnitPriceSet: money(line.price),
})

function orderLine(order: StoredOrder, line: StoredLine): GraphObject {
  const back = order.refunds.flatMap(({ lines }) => lines).filter((each) => each.line_item_id === line.id)
  return {
    __typename: 'LineItem',
    id: gid('LineItem', line.id),
    ...lineFields(line),
    currentQuantity: line.quantity - back.reduce((sum, { quantity }) => sum + quantity, 0),
    discountAllocations: line.discounts.map((amount) => ({ allocatedAmountSet: money(amount) })),
  }
}

export const orderObject = (shop: Shop, order: StoredOrder): GraphObject => ({
  __typename: 'Order',
  id: gid('Order', order.id),
  name: order.name,
  test: order.test,
  currencyCode: order.currency,
  email: order.email,
  phone: null,
  cartToken: order.cartToken,
  checkoutToken: order.checkoutToken,
  taxesIncluded: true,
  discountCodes: [],
  displayFinancialStatus: order.financial_status.toUpperCase(),
  displayFulfillmentStatus: order.fulfillments.length > 0 ? 'FULFILLED' : 'UNFULFILLED',
  paymentGatewayNames: ['bogus'],
  statusPageUrl: `https://loja.example.com/orders/${order.id}`,
  createdAt: order.created_at,
  processedAt: order.processed_at,
  cancelledAt: order.cancelled_at,
  closedAt: order.closed_at,
  updatedAt: order.updated_at,
  customer: order.customer && customerObject(shop, order.customer),
  billingAddress: null,
  shippingAddress: null,
  totalDiscountsSet: money('0.0'),
  totalShippingPriceSet: money('0.0'),
  totalPriceSet: money(order.total_price),
  currentTotalPriceSet: money(
    order.cancelled_at ? '0.0' : (Number(order.total_price) - Number(order.refunded)).toFixed(2),
  ),
  totalRefundedSet: money(order.refunded),
  customAttributes: [],
  customerJourneySummary: { firstVisit: null, lastVisit: { landingPage: order.landing_site } },
  transactions: ({ first }: { first: number }) => order.transactions.slice(0, first),
  fulfillments: ({ first }: { first: number }) =>
    order.fulfillments.slice(0, first).map(({ deliveredAt, updated_at }) => ({
      status: 'SUCCESS',
      displayStatus: deliveredAt ? 'DELIVERED' : 'FULFILLED',
      createdAt: updated_at,
      updatedAt: updated_at,
      deliveredAt,
      trackingInfo: [],
    })),
  lineItems: (args: PageArgs) =>
    connection(
      order.lines.map((line) => orderLine(order, line)),
      args,
    ),
  refunds: ({ first }: { first: number }) =>
    order.refunds.slice(0, first).map(({ lines }) => ({
      refundLineItems: (args: PageArgs) =>
        connection(
          lines.map((line) => ({
            __typename: 'RefundLineItem',
            quantity: line.quantity,
            lineItem: { id: gid('LineItem', line.line_item_id) },
            subtotalSet: money(line.subtotal),
            totalTaxSet: money(line.total_tax),
          })),
          args,
        ),
    })),
  paymentCollectionDetails: {
    additionalPaymentCollectionUrl:
      order.financial_status === 'pending' ? `https://loja.example.com/pay/${order.id}` : null,
  },
})

export const orderFields = (order: StoredOrder): Searchable => ({
  name: order.name,
  updated_at: order.updated_at,
  cart_token: order.cartToken,
  checkout_token: order.checkoutToken,
})

export const checkoutObject = (shop: Shop, checkout: StoredCheckout): GraphObject => ({
  __typename: 'AbandonedCheckout',
  id: gid('AbandonedCheckout', checkout.id),
  abandonedCheckoutUrl: checkout.abandoned_checkout_url,
  completedAt: checkout.completed_at,
  updatedAt: checkout.updated_at,
  customer: checkout.customer && customerObject(shop, checkout.customer),
  billingAddress: null,
  shippingAddress: null,
  totalPriceSet: money(checkout.total_price),
  lineItems: (args: PageArgs) =>
    connection(
      checkout.lines.map((line) => ({
        __typename: 'AbandonedCheckoutLineItem',
        id: gid('AbandonedCheckoutLineItem', line.id),
        ...lineFields(line),
        discountedTotalPriceSet: money((Number(line.price) * line.quantity).toFixed(2)),
      })),
      args,
    ),
})

export const checkoutFields = (checkout: StoredCheckout): Searchable => ({
  status: checkout.closed ? 'closed' : 'open',
  updated_at: checkout.updated_at,
})
