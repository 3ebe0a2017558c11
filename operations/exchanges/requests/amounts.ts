/** Computes the value of a request in whole cents of the order's currency (rule 3). Pure; money is decimal text. */
import { amounts } from '#operations/store/index'

export interface AmountLine {
  /** Amount paid for the whole order line. */
  lineTotal: string
  /** Quantity of the order line. */
  ordered: number
  /** Indexes within the line of the counted units: of the requested units, or after a decision of the approved units. */
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
 * The value of the units. The share of a unit depends on its index within the line, so that the units of all requests sum
 * to the line. `atMost` is the part of the payment that is neither refunded nor promised.
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
