/**
 * Computes the value of a request, and how much of it can still be refunded (rule 3), in whole cents of the order's
 * currency. No database; money is decimal text.
 */
import { amounts } from '#operations/store/index'
import { computeLineRemaining, computeRemainingMoney } from './remaining.ts'
import type { OrderReservations } from './units.ts'

export interface AmountLine {
  /** Amount paid for the whole order line. */
  lineTotal: string
  /** Quantity of the order line. */
  ordered: number
  /** Indexes, within the order line, of the requested units; after a decision, of the approved units. */
  units: readonly number[]
  /** Unit price of the replacement variant; null on a return. */
  exchangeUnitPrice: string | null
}

/** The price paid for one unit of an order line, to the cent. */
export function computeUnitPrice(lineTotal: string, ordered: number, currency: string): string {
  const { toCents, toMoney } = amounts.inCurrency(currency)
  return toMoney(amounts.firstUnitsShare(toCents(lineTotal), 1, ordered))
}

/**
 * The value of the units. Rounding is distributed by a unit's index within the line, so that the units of all requests
 * sum to the line. `atMost` is the part of the payment that is neither refunded nor reserved by another request.
 */
export function computeAmount(lines: readonly AmountLine[], atMost: string, currency: string): string {
  const { toCents, toMoney } = amounts.inCurrency(currency)
  const worth = amounts.sumCents(
    lines.map(({ lineTotal, units, ordered }) =>
      amounts.unitsShare(toCents(lineTotal), units, Math.max(1, ordered)),
    ),
  )
  return toMoney(amounts.minCents(worth, amounts.atLeastZero(toCents(atMost))))
}

/** How much more the replacement variants cost than the returned units are worth; negative when they cost less. */
export function computePriceDifference(
  lines: readonly AmountLine[],
  amount: string,
  currency: string,
): string {
  const { toCents, toMoney } = amounts.inCurrency(currency)
  const prices = lines.map(({ exchangeUnitPrice, units }) =>
    exchangeUnitPrice === null ? 0n : toCents(exchangeUnitPrice) * BigInt(units.length),
  )
  return toMoney(amounts.sumCents(prices) - toCents(amount))
}

/** An item of a request, with the units that the decision applies to. */
export interface RefundLine extends AmountLine {
  orderItemId: string
}

/** The facts of an order that decide what can be refunded. */
interface RefundableOrder {
  number: string
  paymentStatus: string
  currency: string
  total: string
  refundedTotal: string
  items: readonly {
    id: string
    quantity: number
    total: string
    refundedQuantity: number
    refundedTotal: string
  }[]
}

export interface Refundable {
  /** The value of the units, or less if less can still be refunded. */
  amount: string
  /** Why the amount is less than the value of the units; null when it is not. */
  reason: string | null
  isPaid: boolean
}

/**
 * Computes how much of the units' value can be refunded now: no more than what is left of each order line and of the
 * payment, after the platform's refunds and the promises to other requests (`reserved`). `order` is null when it does not
 * exist any more.
 */
export function computeRefundable(
  order: RefundableOrder | null,
  reserved: Pick<OrderReservations, 'lines' | 'requests'>,
  lines: readonly RefundLine[],
  currency: string,
): Refundable {
  const { toCents, toMoney } = amounts.inCurrency(currency)
  const isPaid = order?.paymentStatus === 'paid' || order?.paymentStatus === 'partially-refunded'
  const worth = toCents(computeAmount(lines, amounts.amountAtMost, currency))
  const ofLines = [...Map.groupBy(lines, ({ orderItemId }) => orderItemId)].map(([id, own]) => {
    const line = order?.items.find((item) => item.id === id)
    const left = line ? computeLineRemaining(line, reserved.lines.get(id) ?? [], currency).moneyLeft : '0.00'
    return toCents(computeAmount(own, left, currency))
  })
  const left = order && isPaid ? toCents(computeRemainingMoney(order, reserved.requests)) : 0n
  const amount = amounts.minCents(amounts.sumCents(ofLines), left)
  return {
    amount: toMoney(amount),
    reason: amount < worth ? describeShortage(order, reserved, amount, worth) : null,
    isPaid,
  }
}

function describeShortage(
  order: RefundableOrder | null,
  { requests }: Pick<OrderReservations, 'requests'>,
  amount: bigint,
  worth: bigint,
): string {
  if (!order) return 'The order does not exist any more'
  const { number, paymentStatus, currency, total, refundedTotal } = order
  if (paymentStatus === 'voided') return `The payment of order ${number} was voided`
  if (paymentStatus === 'pending') return `Order ${number} is not paid`
  const { toCents, toMoney } = amounts.inCurrency(currency)
  const money = (cents: bigint): string => `${currency} ${toMoney(cents)}`
  const promised = amounts.sumCents(requests.map((each) => each.amount))
  const refunded = toCents(refundedTotal)
  const facts = [
    `order ${number} was paid with ${money(toCents(total))}`,
    ...(refunded > 0n ? [`${money(refunded)} was refunded at the platform`] : []),
    ...(promised > 0n ? [`${money(promised)} is in other requests`] : []),
  ]
  const what = amount === 0n ? 'Nothing' : `Only ${money(amount)}`
  return `${what} of ${money(worth)} can still be refunded: ${facts.join(', ')}`
}

/**
 * How much of the platform's refunds since the last decision belongs to this request: the value of its units that were
 * refunded by line, at most `amount`. A refund without line items is attributed to no request.
 */
export function computeOwnRefunds(
  order: RefundableOrder,
  lines: readonly (RefundLine & { refundedBefore: number })[],
  amount: string,
): string {
  const { toCents, toMoney } = amounts.inCurrency(order.currency)
  const own = [...Map.groupBy(lines, ({ orderItemId }) => orderItemId)].map(([id, items]) => {
    const refunded = order.items.find((item) => item.id === id)?.refundedQuantity ?? 0
    const { lineTotal, ordered, refundedBefore } = items[0]!
    const units = items.flatMap((item) => item.units).slice(0, Math.max(0, refunded - refundedBefore))
    return amounts.unitsShare(toCents(lineTotal), units, Math.max(1, ordered))
  })
  return toMoney(amounts.minCents(amounts.sumCents(own), toCents(amount)))
}
