/** What a request is worth, in whole cents: pure (rule 3). Money is decimal text. */
import { amounts } from '#operations/store/door'

export interface AmountLine {
  /** Of the whole order line, as it was paid. */
  lineTotal: string
  /** Units of the order line. */
  ordered: number
  /** Those that count, by their places in the line: asked for, or approved once that is decided. */
  units: readonly number[]
  /** Of the variant that is wanted instead; null on a return. */
  exchangeUnitPrice: string | null
}

/** What one unit of an order line was paid with, to the cent. */
export const unitPriceOf = (lineTotal: string, ordered: number): string =>
  amounts.toMoney(amounts.firstUnits(amounts.toCents(lineTotal), 1, ordered))

/**
 * What the units are worth: each its share of its line, so that all units of a line, in however many requests, are worth
 * the line. `atMost`: what is left of what was paid.
 */
export function amountOf(lines: readonly AmountLine[], atMost: string): string {
  const worth = amounts.sumOf(
    lines.map(({ lineTotal, units, ordered }) =>
      amounts.unitsWorth(amounts.toCents(lineTotal), units, Math.max(1, ordered)),
    ),
  )
  return amounts.toMoney(amounts.lesser(worth, amounts.notNegative(amounts.toCents(atMost))))
}

/** What the wanted variants cost more than what they replace is worth, less than 0 when they cost less. */
export function priceDifferenceOf(lines: readonly AmountLine[], amount: string): string {
  const wanted = lines.map(({ exchangeUnitPrice, units }) =>
    exchangeUnitPrice === null ? 0n : amounts.toCents(exchangeUnitPrice) * BigInt(units.length),
  )
  return amounts.toMoney(amounts.sumOf(wanted) - amounts.toCents(amount))
}
