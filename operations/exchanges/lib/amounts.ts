/** What a request is worth, in whole cents, halves up: pure. Money is decimal text. */
import { amounts } from '#operations/store/lib/door'

export interface AmountLine {
  /** Of the whole order line, as it was paid. */
  lineTotal: string
  /** Units of the order line. */
  ordered: number
  /** Units that count: asked for, or approved once that is decided. */
  quantity: number
  /** Of the variant that is wanted instead; null on a return. */
  exchangeUnitPrice: string | null
}

/** What one unit of an order line was paid with, to the cent. */
export const unitPriceOf = (lineTotal: string, ordered: number): string =>
  amounts.toMoney(share(lineTotal, 1, ordered))

/** What the units are worth: each line's share of its total, so that all units are worth the whole line. */
export const amountOf = (lines: readonly AmountLine[]): string =>
  amounts.toMoney(
    lines.reduce((sum, { lineTotal, quantity, ordered }) => sum + share(lineTotal, quantity, ordered), 0n),
  )

/** What the wanted variants cost more than what they replace, less than 0 when they cost less. */
export const priceDifferenceOf = (lines: readonly AmountLine[]): string =>
  amounts.toMoney(
    lines.reduce((sum, { lineTotal, ordered, quantity, exchangeUnitPrice }) => {
      if (exchangeUnitPrice === null) return sum
      const more = amounts.toCents(exchangeUnitPrice) - share(lineTotal, 1, ordered)
      return sum + more * BigInt(quantity)
    }, 0n),
  )

/** Half up; totals of lines are never below 0. */
function share(lineTotal: string, quantity: number, ordered: number): bigint {
  const whole = BigInt(Math.max(1, ordered))
  return (2n * amounts.toCents(lineTotal) * BigInt(quantity) + whole) / (2n * whole)
}
