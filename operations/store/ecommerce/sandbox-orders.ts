/** Creates and changes orders of the sandbox's shops, as shoppers and the shop would. */
import { sql } from 'kysely'
import { Refused } from '#runtime/ports/errors'
import * as money from '#runtime/values/money'
import { parsePhone } from '#runtime/values/phone'
import type { PlatformOrder, PlatformOrderItem, Product, ProductVariant } from './port.ts'
import { putCustomer, type StoredCustomer } from './sandbox-catalog.ts'
import { applyCoupon, countCoupons } from './sandbox-coupons.ts'
import { countUsage } from './sandbox-discounts.ts'
import { quoteSandboxCart } from './sandbox-quote.ts'
import {
  findObjects,
  instantText,
  nextNumber,
  putObjects,
  readShopFacts,
  type Shop,
  type ShopFacts,
  withShopLock,
} from './sandbox-rows.ts'
import { restoreStock, takeStock } from './sandbox-stock.ts'

/** The body of `POST /sandbox/api/ecommerce/:storeId/orders`. */
export interface OrderInput {
  /** The id of the new order; default: the shop's next number. */
  id?: string
  /** The customer is found by id, else by email, else by phone; an unknown customer is created. */
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
   * If set, the order is priced like at the checkout: the platform's discounts are applied and counted, and the earned gifts
   * that the shopper chose are added. If left out, the order has no discounts.
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
  /** Amount of an additional refund. Without `refundItems` it is not assigned to any line. */
  refundAmount?: number | undefined
  /** Units refunded additionally. Unless `refundAmount` is given, their share of the line's total is refunded. */
  refundItems?: readonly { variantId: string; quantity: number }[] | undefined
}

/** Writes complete orders, for the seed and load tests. */
export async function putOrders(shop: Shop, orders: readonly PlatformOrder[]): Promise<void> {
  await putObjects(
    shop,
    'order',
    orders.map((data) => ({ id: data.id, data, updatedAt: data.updatedAt })),
  )
}

/**
 * Places an order: applies its coupon and takes its units from the stock. Throws `Refused` for an unknown variant, and for
 * an invalid coupon.
 */
export function createOrder(shop: Shop, input: OrderInput): Promise<PlatformOrder> {
  return withShopLock(shop, async (locked) => {
    const facts = await readShopFacts(locked)
    const customer = await upsertCustomer(locked, facts, input.customer)
    const id = input.id ?? (await nextNumber(locked, 'order', 9000))
    const currency = input.currency ?? facts.currency
    const { toCents, toMoney } = money.inCurrency(currency)
    if (input.checkout && currency !== facts.currency) {
      throw new Refused('foreign-currency', `currency: the checkout sells in ${facts.currency} only`)
    }
    const plain = await buildItems(locked, id, input.items, currency)
    const quoted = input.checkout ? await quoteOrder(locked, plain, input, currency) : null
    const lines = quoted?.items ?? plain
    const off = quoted?.off ?? 0n
    const couponCode = quoted && !quoted.takesCoupon ? null : input.couponCode
    const now = instantText(shop.clock.now())
    const placedAt = input.placedAt === undefined ? now : instantText(input.placedAt)
    const paymentStatus = input.paymentStatus ?? 'paid'
    const isPaid = !isUnpaid(paymentStatus)
    const subtotal = money.sumCents(lines.map((item) => toCents(item.total)))
    const undiscounted = { items: lines, shipping: toCents(input.shipping ?? 0), placedAt, currency }
    const { code, items, discount, shipping } = couponCode?.trim()
      ? await applyCoupon(locked, couponCode, undiscounted, facts.currency)
      : { ...undiscounted, code: null, discount: 0n }
    const total = toMoney(subtotal - discount + shipping)
    await takeStock(locked, id, items)
    const order: PlatformOrder = {
      id,
      number: id,
      status: 'open',
      paymentStatus,
      fulfillmentStatus: 'unfulfilled',
      currency,
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
    await putOrders(locked, [order])
    if (quoted) await countUsage(locked, quoted.used, currency)
    return order
  })
}

/**
 * Changes an order; null if there is no such order. Throws `Refused` for a refund that is negative or larger than what is
 * left of the order, or if the order was never paid.
 */
export function changeOrder(shop: Shop, orderId: string, change: OrderChange): Promise<PlatformOrder | null> {
  return withShopLock(shop, async (locked) => {
    const [before] = await findObjects<PlatformOrder>(locked, 'order', [orderId], true)
    if (!before) return null
    const now = shop.clock.ms()
    const at = instantText(shop.clock.now())
    // If a change both pays and refunds, the payment comes first.
    const isPaidFirst = change.paymentStatus === 'paid'
    let order = applyRefund(isPaidFirst ? withPaymentStatus(before, 'paid', at) : before, change)
    if (change.paymentStatus && !isPaidFirst) order = withPaymentStatus(order, change.paymentStatus, at)
    if (change.status) {
      if ((change.status === 'cancelled') !== (before.status === 'cancelled')) {
        await (change.status === 'cancelled'
          ? restoreStock(locked, orderId)
          : takeStock(locked, orderId, before.items))
        await countCoupons(locked, before.couponCodes, change.status === 'cancelled' ? -1 : 1)
      }
      const cancelledAt = change.status === 'cancelled' ? (order.cancelledAt ?? at) : null
      order = { ...order, status: change.status, cancelledAt }
    }
    if (change.fulfillmentStatus) order = withFulfillmentStatus(order, change.fulfillmentStatus, at)
    // Each change gets a later `updatedAt`, even within one millisecond or with a frozen clock.
    const updatedAt = new Date(Math.max(now, Date.parse(before.updatedAt) + 1)).toISOString()
    order = { ...order, updatedAt }
    await putOrders(locked, [order])
    return order
  })
}

function applyRefund(order: PlatformOrder, { refundAmount, refundItems = [] }: OrderChange): PlatformOrder {
  if ((refundAmount ?? 0) === 0 && refundItems.length === 0) return order
  if (isUnpaid(order.paymentStatus)) throw notPaid('refundAmount')
  const { toCents, toMoney } = money.inCurrency(order.currency)
  const units = countRefundedUnits(order.items, refundItems)
  const refundedQuantity = order.items.map((item, at) => item.refundedQuantity + units[at]!)
  // The amount to refund by line: the share of all refunded units, minus earlier refunds.
  const ofLines = order.items.map((item, at) => {
    if (units[at] === 0) return 0n
    const due = money.firstUnitsShare(toCents(item.total), refundedQuantity[at]!, item.quantity)
    return money.atLeastZero(due - toCents(item.refundedTotal))
  })
  const back = refundAmount === undefined ? money.sumCents(ofLines) : toCents(refundAmount)
  if (back < 0n) throw new Refused('refund-below-zero', 'refundAmount: must not be negative')
  const issue = money.findAmountIssue(refundAmount ?? 0, order.currency)
  if (issue) throw new Refused('refund-fraction', `refundAmount: ${issue}`)
  const total = toCents(order.refundedTotal) + back
  if (total > toCents(order.total)) {
    throw new Refused('refund-too-large', 'refundAmount: is more than what is left of the order')
  }
  const named = money.splitBy(money.minCents(back, money.sumCents(ofLines)), ofLines)
  return {
    ...order,
    items: order.items.map((item, at) => ({
      ...item,
      refundedQuantity: refundedQuantity[at]!,
      refundedTotal: toMoney(toCents(item.refundedTotal) + named[at]!),
    })),
    refundedTotal: toMoney(total),
    paymentStatus: findRefundStatus(order, total),
  }
}

/** The lines as priced at the checkout, followed by the gifts. `off`: discounts and gifts in cents, without the coupon. */
async function quoteOrder(locked: Shop, items: PlatformOrderItem[], input: OrderInput, currency: string) {
  const { toCents } = money.inCurrency(currency)
  const { giftVariantIds } = input.checkout!
  const quote = await quoteSandboxCart(locked, { lines: input.items, couponCode: input.couponCode })
  const chosenGifts = quote.gifts.filter(({ variantId }) => giftVariantIds.includes(variantId))
  const gifts = await buildItems(locked, items[0]!.id.split('-')[0]!, chosenGifts, currency, items.length)
  const worth = gifts.map(({ total }) => toCents(total))
  const used = [
    ...quote.discounts.map(({ reference, amount }) => ({ reference, amount: toCents(amount) })),
    ...chosenGifts.map(({ reference }, at) => ({ reference, amount: worth[at]! })),
  ]
  return {
    items: [
      ...items.map((item, at) => ({ ...item, total: quote.lines[at]!.total })),
      ...gifts.map((gift) => ({ ...gift, total: '0.00' })),
    ],
    off: money.sumCents(used.map(({ amount }) => amount)),
    used,
    // The coupon is dropped if it does not combine with the discounts and saves less than they do.
    takesCoupon: quote.discounts.length === 0 || toCents(quote.couponDiscount) > 0n,
  }
}

const isUnpaid = (status: PlatformOrder['paymentStatus']): boolean =>
  status === 'pending' || status === 'voided'
const notPaid = (field: string): Refused => new Refused('not-paid', `${field}: nothing was paid`)

/** The payment status after refunds. A return without a refunded amount does not change it. */
function findRefundStatus(order: PlatformOrder, refunded: bigint): PlatformOrder['paymentStatus'] {
  if (refunded === 0n) return order.paymentStatus
  return refunded === money.inCurrency(order.currency).toCents(order.total)
    ? 'refunded'
    : 'partially-refunded'
}

/** Counts the refunded units of each line. If lines have the same variant, the first line is refunded first. */
function countRefundedUnits(
  items: readonly PlatformOrderItem[],
  refundItems: NonNullable<OrderChange['refundItems']>,
): number[] {
  const units = items.map(() => 0)
  for (const { variantId, quantity } of refundItems) {
    let remaining = quantity
    let name: string | null = null
    for (const [at, item] of items.entries()) {
      if (item.variantId !== variantId) continue
      name = item.name
      const refunded = Math.min(remaining, item.quantity - item.refundedQuantity - units[at]!)
      units[at]! += refunded
      remaining -= refunded
    }
    if (name === null) {
      throw new Refused('unknown-variant', `refundItems: the order has no variant ${variantId}`)
    }
    if (remaining > 0) throw new Refused('refund-too-large', `refundItems: ${name} has fewer units left`)
  }
  return units
}

function withPaymentStatus(
  order: PlatformOrder,
  paymentStatus: PlatformOrder['paymentStatus'],
  at: string,
): PlatformOrder {
  const isPaid = !isUnpaid(paymentStatus)
  const isRefund = paymentStatus === 'refunded' || paymentStatus === 'partially-refunded'
  if (isRefund && isUnpaid(order.paymentStatus)) throw notPaid('paymentStatus')
  const back = money.inCurrency(order.currency).toCents(order.refundedTotal)
  if (!isPaid && back > 0n) throw new Refused('refunded', 'paymentStatus: was paid, and in part refunded')
  return {
    ...order,
    // Earlier refunds are kept, whatever the new payment status is.
    paymentStatus:
      paymentStatus === 'paid' ? findRefundStatus({ ...order, paymentStatus }, back) : paymentStatus,
    paidAt: isPaid ? (order.paidAt ?? at) : null,
    paymentUrl: isPaid ? null : order.paymentUrl,
    refundedTotal: paymentStatus === 'refunded' ? order.total : order.refundedTotal,
  }
}

function withFulfillmentStatus(
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

/** Finds or creates the customer of an order or a cart, and updates changed fields. */
export async function upsertCustomer(
  shop: Shop,
  facts: ShopFacts,
  input: OrderInput['customer'],
): Promise<PlatformOrder['customer']> {
  const email = input.email?.trim() || null
  const phone = input.phone ? (parsePhone(input.phone, facts.country) ?? input.phone) : null
  const known = input.id
    ? (await findObjects<StoredCustomer>(shop, 'customer', [input.id]))[0]
    : await findCustomer(shop, email, phone)
  const id = input.id ?? known?.id ?? (await nextNumber(shop, 'customer', 5000))
  const customer: StoredCustomer = {
    id,
    name: input.name ?? known?.name ?? null,
    email: email ?? known?.email ?? null,
    phone: phone ?? known?.phone ?? null,
    birthDate: input.birthDate ?? known?.birthDate ?? null,
    acceptsMarketing: known?.acceptsMarketing ?? true,
  }
  if (JSON.stringify(customer) !== JSON.stringify(known && sortFields(known)))
    await putCustomer(shop, customer)
  return { id, name: customer.name, email: customer.email, phone: customer.phone }
}

const sortFields = ({
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

async function findCustomer(
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

/** Builds lines of an order or a cart. `after`: how many lines come before. Throws `Refused` for an unknown variant. */
export async function buildItems(
  shop: Shop,
  orderId: string,
  lines: OrderInput['items'],
  currency: string,
  after = 0,
): Promise<PlatformOrderItem[]> {
  const { toCents, toMoney } = money.inCurrency(currency)
  const ids = lines.map((item) => item.variantId)
  const { rows } = await sql<{ product: Product; variant: ProductVariant }>`
    select p.data as product, v.value as variant
    from sandbox_objects p, jsonb_array_elements(p.data -> 'variants') v
    where p.store_id = ${shop.storeId}::uuid and p.kind = 'product' and v.value ->> 'id' = any(${ids}::text[])`.execute(
    shop.db,
  )
  const found = new Map(rows.map((row) => [row.variant.id, row]))
  return lines.map(({ variantId, quantity }, index) => {
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
