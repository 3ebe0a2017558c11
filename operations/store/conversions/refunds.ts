/** Computes the refund of each order line (rule 6): the amount assigned by the platform, plus a share of the rest. */
import { atLeastZero, inCurrency, minCents, splitBy, sumCents } from '#runtime/values/money'

interface Line {
  /** Decimal text, like all amounts here. */
  total: string
  refundedTotal: string
}

/**
 * The refunded amount of each line, in the given order, never more than the line's total. A refund that names no lines is
 * spread in proportion to the remaining totals, to the cent, largest remainder first. Only a refund larger than the total
 * of all lines covers shipping. If the platform refunded more than a line's total (its taxes), the excess counts for no line.
 * @example spreadRefund([{ total: '120.00', … }, { total: '60.00', … }], '50.00', 'BRL') // ['33.33', '16.67']
 */
export function spreadRefund(lines: readonly Line[], refundedTotal: string, currency: string): string[] {
  const { toCents, toMoney } = inCurrency(currency)
  const totals = lines.map((line) => atLeastZero(toCents(line.total)))
  const named = lines.map((line) => atLeastZero(toCents(line.refundedTotal)))
  const refunded = named.map((each, i) => minCents(each, totals[i]!))
  const remaining = totals.map((total, i) => total - refunded[i]!)
  const unnamed = atLeastZero(toCents(refundedTotal) - sumCents(named))
  const shares = splitBy(minCents(unnamed, sumCents(remaining)), remaining)
  return refunded.map((each, i) => toMoney(each + shares[i]!))
}
