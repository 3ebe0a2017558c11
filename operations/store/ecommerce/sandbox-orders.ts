/** Orders of the sandbox's shops: made and changed as a shopper and a shop would. */
import { sql } from 'kysely'
import { Refused } from '#runtime/ports/errors'
import { firstUnits, lesser, notNegative, splitBy, sumOf, toCents, toMoney } from '#runtime/values/money'
import { parsePhone } from '#runtime/values/phone'
import type { PlatformOrder, PlatformOrderItem, Product, ProductVariant } from './port.ts'
import { putCustomer, type StoredCustomer } from './sandbox-catalog.ts'
import { countCoupons, takeCoupon } from './sandbox-coupons.ts'
import { countUse } from './sandbox-discounts.ts'
import { quoteCart } from './sandbox-quote.ts'
import {
  findObjects,
  instantText,
  inTurn,
  nextNumber,
  putObjects,
  type Shop,
  type ShopFacts,
  shopFacts,
} from './sandbox-rows.ts'
import { restoreStock, takeStock } from './sandbox-stock.ts'

/** The body of `POST /sandbox/api/ecommerce/:storeId/orders`. */
export interface OrderInput {
  /** Default: the next number of the shop. */
  id?: string
  /** Found by id, else by email, else by phone; a new customer otherwise. */
  customer: {
    id?: string | undefined
    name?: string | null | undefined
    email?: string | null | undefined
    phone?: string | null | undefined
    /** `YYYY-MM-DD`. */
    birthDate?: string | null | undefined
  }
  items: readonly { variantId: string; quantity: number }[]
  shipping?: number | undefined
  couponCode?: string | null | undefined
  clickToken?: string | null | undefined
  /**
   * As the checkout prices it: the platform's discounts are taken off and counted, and of the gifts that the cart earns
   * those are in it that the shopper wants. Left out, an order takes no discounts.
   */
  checkout?: { giftVariantIds: readonly string[] } | undefined
  cartId?: string | null | undefined
  currency?: string | undefined
  placedAt?: Date | string | undefined
  paymentStatus?: PlatformOrder['paymentStatus'] | undefined
}

/** The body of `POST /sandbox/api/ecommerce/:storeId/orders/:orderId/status`. */
export interface OrderChange {
  paymentStatus?: PlatformOrder['paymentStatus'] | undefined
  status?: PlatformOrder['status'] | undefined
  fulfillmentStatus?: PlatformOrder['fulfillmentStatus'] | undefined
  /** Given back now, beside what was before; without `refundItems` no line is named. */
  refundAmount?: number | undefined
  /** Units given back now; their share of the line, unless `refundAmount` says what was paid back. */
  refundItems?: readonly { variantId: string; quantity: number }[] | undefined
}

/** Writes whole orders as they are, for seeds and loads. */
export async function putOrders(shop: Shop, orders: readonly PlatformOrder[]): Promise<void> {
  await putObjects(
    shop,
    'order',
    orders.map((data) => ({ id: data.id, data, updatedAt: data.updatedAt })),
  )
}

/**
 * Places an order: its coupon is taken off, its units out of stock. Throws `Refused` for a variant that no product has,
 * and for a coupon that does not hold.
 */
export function createOrder(shop: Shop, input: OrderInput): Promise<PlatformOrder> {
  return inTurn(shop, async (turn) => {
    const facts = await shopFacts(turn)
    const customer = await customerOf(turn, facts, input.customer)
    const id = input.id ?? (await nextNumber(turn, 'order', 9000))
    const plain = await itemsOf(turn, id, input.items)
    const quoted = input.checkout ? await atCheckout(turn, plain, input) : null
    const asked = quoted?.items ?? plain
    const off = quoted?.off ?? 0n
    const couponCode = quoted && !quoted.takesCoupon ? null : input.couponCode
    const now = instantText(shop.clock.now())
    const placedAt = input.placedAt === undefined ? now : instantText(input.placedAt)
    const paymentStatus = input.paymentStatus ?? 'paid'
    const isPaid = !isUnpaid(paymentStatus)
    const subtotal = sumOf(asked.map((item) => toCents(item.total)))
    const undiscounted = { items: asked, shipping: toCents(input.shipping ?? 0), placedAt }
    const { code, items, discount, shipping } = couponCode?.trim()
      ? await takeCoupon(turn, couponCode, undiscounted)
      : { ...undiscounted, code: null, discount: 0n }
    const total = toMoney(subtotal - discount + shipping)
    await takeStock(turn, id, items)
    const order: PlatformOrder = {
      id,
      number: id,
      status: 'open',
      paymentStatus,
      fulfillmentStatus: 'unfulfilled',
      currency: input.currency ?? facts.currency,
      subtotal: toMoney(subtotal + off),
      discount: toMoney(discount + off),
      shipping: toMoney(shipping),
      total,
      refundedTotal: paymentStatus === 'refunded' ? total : '0.00',
      couponCodes: code === null ? [] : [code],
      customer,
      items,
      paymentMethod: paymentStatus === 'pending' ? 'boleto' : 'credit-card',
      paymentUrl: paymentStatus === 'pending' ? `https://${facts.domain}/checkout/${id}/pay` : null,
      statusUrl: `https://${facts.domain}/orders/${id}`,
      cartId: input.cartId ?? null,
      trackingCode: null,
      trackingUrl: null,
      shippingAddress: null,
      clickToken: input.clickToken ?? null,
      placedAt,
      paidAt: isPaid ? placedAt : null,
      shippedAt: null,
      deliveredAt: null,
      cancelledAt: null,
      updatedAt: now,
    }
    await putOrders(turn, [order])
    if (quoted) await countUse(turn, quoted.used, order.currency)
    return order
  })
}

/**
 * Changes an order, or answers null when there is none. Throws `Refused` for a refund below zero, above what is left or
 * of what was never paid.
 */
export function changeOrder(shop: Shop, orderId: string, change: OrderChange): Promise<PlatformOrder | null> {
  return inTurn(shop, async (turn) => {
    const [before] = await findObjects<PlatformOrder>(turn, 'order', [orderId], true)
    if (!before) return null
    const now = shop.clock.ms()
    const at = instantText(shop.clock.now())
    // What is paid and given back in one change is paid first.
    const isPaidFirst = change.paymentStatus === 'paid'
    let order = refunded(isPaidFirst ? paidAs(before, 'paid', at) : before, change)
    if (change.paymentStatus && !isPaidFirst) order = paidAs(order, change.paymentStatus, at)
    if (change.status) {
      if ((change.status === 'cancelled') !== (before.status === 'cancelled')) {
        await (change.status === 'cancelled'
          ? restoreStock(turn, orderId)
          : takeStock(turn, orderId, before.items))
        await countCoupons(turn, before.couponCodes, change.status === 'cancelled' ? -1 : 1)
      }
      const cancelledAt = change.status === 'cancelled' ? (order.cancelledAt ?? at) : null
      order = { ...order, status: change.status, cancelledAt }
    }
    if (change.fulfillmentStatus) order = fulfilledAs(order, change.fulfillmentStatus, at)
    // Two changes within one millisecond, or under a clock that stands still, are two versions all the same.
    const updatedAt = new Date(Math.max(now, Date.parse(before.updatedAt) + 1)).toISOString()
    order = { ...order, updatedAt }
    await putOrders(turn, [order])
    return order
  })
}

function refunded(order: PlatformOrder, { refundAmount, refundItems = [] }: OrderChange): PlatformOrder {
  if ((refundAmount ?? 0) === 0 && refundItems.length === 0) return order
  if (isUnpaid(order.paymentStatus)) throw neverPaid('refundAmount')
  const units = unitsGivenBack(order.items, refundItems)
  const refundedQuantity = order.items.map((item, at) => item.refundedQuantity + units[at]!)
  // What a line of these units comes to, less what was given back of it before.
  const ofLines = order.items.map((item, at) => {
    if (units[at] === 0) return 0n
    const due = firstUnits(toCents(item.total), refundedQuantity[at]!, item.quantity)
    return notNegative(due - toCents(item.refundedTotal))
  })
  const back = refundAmount === undefined ? sumOf(ofLines) : toCents(refundAmount)
  if (back < 0n) throw new Refused('refund-below-zero', 'refundAmount: must not be negative')
  const total = toCents(order.refundedTotal) + back
  if (total > toCents(order.total)) {
    throw new Refused('refund-too-large', 'refundAmount: is more than what is left of the order')
  }
  const named = splitBy(lesser(back, sumOf(ofLines)), ofLines)
  return {
    ...order,
    items: order.items.map((item, at) => ({
      ...item,
      refundedQuantity: refundedQuantity[at]!,
      refundedTotal: toMoney(toCents(item.refundedTotal) + named[at]!),
    })),
    refundedTotal: toMoney(total),
    paymentStatus: statusWith(order, total),
  }
}

/** Lines as the checkout sells them, gifts after what is paid for; `off`: what the platform's discounts take off, in cents. */
async function atCheckout(turn: Shop, items: PlatformOrderItem[], input: OrderInput) {
  const { giftVariantIds } = input.checkout!
  const quote = await quoteCart(turn, { lines: input.items, couponCode: input.couponCode })
  const wanted = quote.gifts.filter(({ variantId }) => giftVariantIds.includes(variantId))
  const gifts = await itemsOf(turn, items[0]!.id.split('-')[0]!, wanted, items.length)
  const worth = gifts.map(({ total }) => toCents(total))
  const used = [
    ...quote.discounts.map(({ reference, amount }) => ({ reference, amount: toCents(amount) })),
    ...wanted.map(({ reference }, at) => ({ reference, amount: worth[at]! })),
  ]
  return {
    items: [
      ...items.map((item, at) => ({ ...item, total: quote.lines[at]!.total })),
      ...gifts.map((gift) => ({ ...gift, total: '0.00' })),
    ],
    off: sumOf(used.map(({ amount }) => amount)),
    used,
    // One that goes together with none of what saves more is not taken.
    takesCoupon: quote.discounts.length === 0 || toCents(quote.couponDiscount) > 0n,
  }
}

const isUnpaid = (status: PlatformOrder['paymentStatus']): boolean =>
  status === 'pending' || status === 'voided'
const neverPaid = (field: string): Refused => new Refused('not-paid', `${field}: nothing was paid`)

/** Units that come back without money leave it as it is. */
function statusWith(order: PlatformOrder, refunded: bigint): PlatformOrder['paymentStatus'] {
  if (refunded === 0n) return order.paymentStatus
  return refunded === toCents(order.total) ? 'refunded' : 'partially-refunded'
}

/** Units by line: of lines of one variant the first ones give back first. */
function unitsGivenBack(
  items: readonly PlatformOrderItem[],
  refundItems: NonNullable<OrderChange['refundItems']>,
): number[] {
  const units = items.map(() => 0)
  for (const { variantId, quantity } of refundItems) {
    let left = quantity
    let name: string | null = null
    for (const [at, item] of items.entries()) {
      if (item.variantId !== variantId) continue
      name = item.name
      const taken = Math.min(left, item.quantity - item.refundedQuantity - units[at]!)
      units[at]! += taken
      left -= taken
    }
    if (name === null) {
      throw new Refused('unknown-variant', `refundItems: the order has no variant ${variantId}`)
    }
    if (left > 0) throw new Refused('refund-too-large', `refundItems: ${name} has fewer units left`)
  }
  return units
}

function paidAs(
  order: PlatformOrder,
  paymentStatus: PlatformOrder['paymentStatus'],
  at: string,
): PlatformOrder {
  const isPaid = !isUnpaid(paymentStatus)
  const isRefund = paymentStatus === 'refunded' || paymentStatus === 'partially-refunded'
  if (isRefund && isUnpaid(order.paymentStatus)) throw neverPaid('paymentStatus')
  const back = toCents(order.refundedTotal)
  if (!isPaid && back > 0n) throw new Refused('refunded', 'paymentStatus: was paid, and in part refunded')
  return {
    ...order,
    // What was given back stays so, whatever is told of the payment.
    paymentStatus: paymentStatus === 'paid' ? statusWith({ ...order, paymentStatus }, back) : paymentStatus,
    paidAt: isPaid ? (order.paidAt ?? at) : null,
    paymentUrl: isPaid ? null : order.paymentUrl,
    refundedTotal: paymentStatus === 'refunded' ? order.total : order.refundedTotal,
  }
}

function fulfilledAs(
  order: PlatformOrder,
  fulfillmentStatus: PlatformOrder['fulfillmentStatus'],
  at: string,
): PlatformOrder {
  const isShipped = fulfillmentStatus === 'shipped' || fulfillmentStatus === 'delivered'
  const trackingCode = isShipped ? (order.trackingCode ?? `SB${order.id}BR`) : null
  return {
    ...order,
    fulfillmentStatus,
    trackingCode,
    trackingUrl: trackingCode && `https://track.example.com/${trackingCode}`,
    shippedAt: isShipped ? (order.shippedAt ?? at) : null,
    deliveredAt: fulfillmentStatus === 'delivered' ? (order.deliveredAt ?? at) : null,
  }
}

/** The customer as an order or a cart names them: found, made or changed. */
export async function customerOf(
  shop: Shop,
  facts: ShopFacts,
  input: OrderInput['customer'],
): Promise<PlatformOrder['customer']> {
  const email = input.email?.trim() || null
  const phone = input.phone ? (parsePhone(input.phone, facts.country) ?? input.phone) : null
  const known = input.id
    ? (await findObjects<StoredCustomer>(shop, 'customer', [input.id]))[0]
    : await sameCustomer(shop, email, phone)
  const id = input.id ?? known?.id ?? (await nextNumber(shop, 'customer', 5000))
  const customer: StoredCustomer = {
    id,
    name: input.name ?? known?.name ?? null,
    email: email ?? known?.email ?? null,
    phone: phone ?? known?.phone ?? null,
    birthDate: input.birthDate ?? known?.birthDate ?? null,
    acceptsMarketing: known?.acceptsMarketing ?? true,
  }
  if (JSON.stringify(customer) !== JSON.stringify(known && inOrder(known))) await putCustomer(shop, customer)
  return { id, name: customer.name, email: customer.email, phone: customer.phone }
}

const inOrder = ({
  id,
  name,
  email,
  phone,
  birthDate,
  acceptsMarketing,
}: StoredCustomer): StoredCustomer => ({
  id,
  name,
  email,
  phone,
  birthDate,
  acceptsMarketing,
})

async function sameCustomer(
  shop: Shop,
  email: string | null,
  phone: string | null,
): Promise<StoredCustomer | undefined> {
  const { rows } = await sql<{ data: StoredCustomer }>`
    select data from sandbox_objects
    where store_id = ${shop.storeId}::uuid and kind = 'customer'
      and (lower(data ->> 'email') = lower(${email}::text) or data ->> 'phone' = ${phone}::text)
    order by coalesce(lower(data ->> 'email') = lower(${email}::text), false) desc, position
    limit 1`.execute(shop.db)
  return rows[0]?.data
}

/** Lines of an order or a cart, numbered `after` others. Throws `Refused` for a variant that no product has. */
export async function itemsOf(
  shop: Shop,
  orderId: string,
  wanted: OrderInput['items'],
  after = 0,
): Promise<PlatformOrderItem[]> {
  const ids = wanted.map((item) => item.variantId)
  const { rows } = await sql<{ product: Product; variant: ProductVariant }>`
    select p.data as product, v.value as variant
    from sandbox_objects p, jsonb_array_elements(p.data -> 'variants') v
    where p.store_id = ${shop.storeId}::uuid and p.kind = 'product' and v.value ->> 'id' = any(${ids}::text[])`.execute(
    shop.db,
  )
  const found = new Map(rows.map((row) => [row.variant.id, row]))
  return wanted.map(({ variantId, quantity }, index) => {
    const known = found.get(variantId)
    if (!known) {
      throw new Refused(
        'unknown-variant',
        `items.${index}.variantId: no product has the variant ${variantId}`,
      )
    }
    const { product, variant } = known
    return {
      id: `${orderId}-${after + index + 1}`,
      productId: product.id,
      variantId,
      name: product.name,
      sku: variant.sku,
      imageUrl: variant.imageUrl ?? product.imageUrl,
      quantity,
      unitPrice: toMoney(toCents(variant.price)),
      total: toMoney(toCents(variant.price) * BigInt(quantity)),
      refundedQuantity: 0,
      refundedTotal: '0.00',
    }
  })
}
