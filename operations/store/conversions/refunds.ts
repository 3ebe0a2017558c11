/** Refunds by line (rule 6): what the platform said of lines, and the rest spread over them. */
import { lesser, notNegative, splitBy, sumOf, toCents, toMoney } from '#runtime/values/money'

interface Line {
  /** Decimal text, as all amounts here. */
  total: string
  refundedTotal: string
}

/**
 * What is refunded of each line, in the order given, never more than the line. A refund that names no lines is spread by
 * what is left of each, to the cent, the largest remainder first; shipping bears none of it, unless it is more than the
 * lines. What a platform gave back of a line beyond it (its taxes) is no line's.
 * @example spreadRefund([{ total: '120.00', … }, { total: '60.00', … }], '50.00') // ['33.33', '16.67']
 */
export function spreadRefund(lines: readonly Line[], refundedTotal: string): string[] {
  const totals = lines.map((line) => notNegative(toCents(line.total)))
  const named = lines.map((line) => notNegative(toCents(line.refundedTotal)))
  const refunded = named.map((each, i) => lesser(each, totals[i]!))
  const left = totals.map((total, i) => total - refunded[i]!)
  const unnamed = notNegative(toCents(refundedTotal) - sumOf(named))
  const shares = splitBy(lesser(unnamed, sumOf(left)), left)
  return refunded.map((each, i) => toMoney(each + shares[i]!))
}
