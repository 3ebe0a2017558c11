/** Actions of shoppers and the merchant: carts, orders, refunds. */
import { currency, type Shop, type StoredCheckout, type StoredLine, type StoredOrder } from './shop.ts'

export interface OrderInput {
  customerId: string
  variantId: string
  quantity: number
  placedAt?: string
  isPaid?: boolean
  checkout?: StoredCheckout
  isTest?: boolean
  landingSite?: string
}

const buildLine = (
  shop: Shop,
  { variantId, quantity }: Pick<OrderInput, 'variantId' | 'quantity'>,
): StoredLine => {
  const { product, variant } = shop.variant(variantId)
  return {
    id: shop.nextId(),
    product_id: product.id,
    variant_id: variant.id,
    title: product.title,
    sku: variant.sku,
    quantity,
    price: variant.price,
    discounts: [],
    image: variant.image,
  }
}

export function placeOrder(shop: Shop, input: OrderInput): StoredOrder {
  const customer = shop.customer(input.customerId)
  const line = buildLine(shop, input)
  const total = (Number(line.price) * line.quantity).toFixed(2)
  const at = shop.now()
  const processedAt = input.placedAt ?? at
  const isPaid = input.isPaid ?? true
  const id = shop.nextId()
  const order: StoredOrder = {
    id,
    name: `#${1000 + shop.orders.length + 1}`,
    test: input.isTest ?? false,
    currency,
    email: customer.email,
    customer,
    lines: [line],
    total_price: total,
    financial_status: isPaid ? 'paid' : 'pending',
    fulfillments: [],
    refunds: [],
    refunded: '0.00',
    cartToken: input.checkout?.token ?? null,
    checkoutToken: `checkout${id}`,
    landing_site: `https://loja.example.com${input.landingSite ?? '/'}`,
    created_at: at,
    processed_at: processedAt,
    cancelled_at: null,
    closed_at: null,
    updated_at: at,
    transactions: isPaid ? [{ kind: 'SALE', status: 'SUCCESS', processedAt }] : [],
  }
  shop.orders.push(order)
  customer.orders_count += 1
  if (isPaid) customer.total_spent = (Number(customer.total_spent) + Number(total)).toFixed(2)
  if (input.checkout) {
    input.checkout.completed_at = at
    input.checkout.updated_at = at
  }
  return order
}

/** Without lines, like a merchant who refunds an amount; in the shop's currency, whatever was paid with. */
export function refundOrder(shop: Shop, order: StoredOrder, amount: number): void {
  order.refunds.push({ lines: [] })
  order.refunded = (Number(order.refunded) + amount).toFixed(2)
  const all = Number(order.refunded)
  order.financial_status = all >= Number(order.total_price) ? 'refunded' : 'partially_refunded'
  order.updated_at = shop.now()
  const customer = shop.customers.find(({ id }) => id === order.customer?.id)
  if (customer) customer.total_spent = (Number(customer.total_spent) - amount).toFixed(2)
}

export function cancelOrder(shop: Shop, order: StoredOrder): void {
  order.cancelled_at = shop.now()
  order.updated_at = order.cancelled_at
}

export function fillCart(
  shop: Shop,
  input: { customerId: string; variantId: string; quantity: number; checkoutId?: string },
): StoredCheckout {
  const line = buildLine(shop, input)
  const customer = shop.customer(input.customerId)
  const at = shop.now()
  const known = shop.checkouts.find(({ id }) => String(id) === input.checkoutId)
  const items = {
    lines: [line],
    total_price: (Number(line.price) * line.quantity).toFixed(2),
    updated_at: at,
  }
  if (known) return Object.assign(known, items)
  const id = shop.nextId()
  const checkout: StoredCheckout = {
    id,
    token: `Z2NwLXVzLWVhc3Qx${id}`,
    customer,
    currency,
    abandoned_checkout_url: `https://loja.example.com/690933842/checkouts/ac/Z2NwLXVzLWVhc3Qx${id}/recover?key=k${id}`,
    completed_at: null,
    closed: false,
    ...items,
  }
  shop.checkouts.push(checkout)
  return checkout
}
