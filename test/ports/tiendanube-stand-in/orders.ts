/** Actions of shoppers and the merchant: carts, orders, refunds. */
import { currency, type Shop, type StoredCheckout, type StoredOrder } from './shop.ts'

interface Bought {
  customerId: string
  variantId: string
  quantity: number
}

/** The price at which the variant is sold now. */
function buildLine(shop: Shop, { variantId, quantity }: Bought) {
  const { product, variant } = shop.variant(variantId)
  return {
    id: shop.nextId(),
    product_id: product.id,
    variant_id: variant.id,
    name: (product.name as Record<string, string>).pt!,
    sku: variant.sku,
    price: variant.promotional_price ?? variant.price!,
    // Text in some answers, as the documentation shows.
    quantity: String(quantity),
    image: { id: 0, src: 'https://assets.example.com/no-photo.png' },
  }
}

export function placeOrder(
  shop: Shop,
  input: Bought & { placedAt?: string; isPaid?: boolean; checkoutId?: string },
): StoredOrder {
  const customer = shop.customer(input.customerId)
  const line = buildLine(shop, input)
  const total = (Number(line.price) * input.quantity).toFixed(2)
  const at = shop.now()
  const isPaid = input.isPaid ?? true
  const id = input.checkoutId ? Number(input.checkoutId) : shop.nextId()
  const order: StoredOrder = {
    id,
    token: `token${id}`,
    store_id: String(shop.id),
    number: 100 + shop.orders.length,
    contact_name: customer.name,
    contact_email: customer.email,
    contact_phone: customer.phone,
    customer,
    products: [line],
    coupon: [],
    subtotal: total,
    discount: '0.00',
    total,
    currency,
    gateway_name: 'Pix',
    shipping_address: null,
    shipping_status: 'unpacked',
    payment_status: isPaid ? 'paid' : 'pending',
    fulfillments: [],
    extra: {},
    status: 'open',
    cancelled_at: null,
    paid_at: isPaid ? (input.placedAt ?? at) : null,
    created_at: input.placedAt ?? at,
    updated_at: at,
    history: [],
  }
  shop.orders.push(order)
  customer.last_order_id = id
  const checkout = shop.checkouts.find((each) => each.id === id)
  if (checkout) Object.assign(checkout, { completed_at: at, updated_at: at })
  return order
}

/** Refunds an amount. `lowers`: the order's total becomes smaller with it, as after an edit. */
export function refundOrder(shop: Shop, order: StoredOrder, amount: number, lowers = false): void {
  order.history.push({ status: 'PAID', total_delta: lowers ? -amount : 0, total_paid_diff: -amount })
  const refunded = -order.history.reduce((sum, each) => sum + Number(each.total_paid_diff), 0)
  order.payment_status = refunded >= Number(order.subtotal) ? 'refunded' : 'partially_refunded'
  if (lowers) order.total = (Number(order.total) - amount).toFixed(2)
  order.updated_at = shop.now()
}

export function cancelOrder(shop: Shop, order: StoredOrder): void {
  const at = shop.now()
  Object.assign(order, { status: 'cancelled', cancelled_at: at, updated_at: at })
}

export function fillCart(shop: Shop, input: Bought & { cartId?: string }): StoredCheckout {
  const customer = shop.customer(input.customerId)
  const line = buildLine(shop, input)
  const at = shop.now()
  const changed = {
    products: [line],
    total: (Number(line.price) * input.quantity).toFixed(2),
    updated_at: at,
  }
  const known = shop.checkouts.find(({ id }) => String(id) === input.cartId)
  if (known) return Object.assign(known, changed)
  const id = shop.nextId()
  const checkout: StoredCheckout = {
    id,
    token: `token${id}`,
    store_id: shop.id,
    abandoned_checkout_url: `https://${shop.originalDomain}/checkout/v3/order/proxy/${id}/token${id}`,
    contact_name: customer.name,
    contact_email: customer.email,
    contact_phone: customer.phone,
    customer: { id: customer.id },
    currency,
    completed_at: null,
    created_at: at,
    ...changed,
  }
  shop.checkouts.push(checkout)
  return checkout
}
