/** Refunds by line (Rules 6): what the platform said of lines, and the rest spread over them. */
import { toCents, toMoney } from './amounts.ts'

interface Line {
  /** Decimal text, as all amounts here. */
  total: string
  refundedTotal: string
}

/**
 * What is refunded of each line, in the order given. A refund that names no lines is spread by what is left of each,
 * to the cent, the largest remainder first; shipping bears none of it, unless it is more than the lines.
 * @example spreadRefund([{ total: '120.00', … }, { total: '60.00', … }], '50.00') // ['33.33', '16.67']
 */
export function spreadRefund(lines: readonly Line[], refundedTotal: string): string[] {
  const refunded = lines.map((line) => toCents(line.refundedTotal))
  const left = lines.map((line, i) => positive(toCents(line.total) - refunded[i]!))
  const leftTotal = left.reduce((sum, each) => sum + each, 0n)
  const named = refunded.reduce((sum, each) => sum + each, 0n)
  const unnamed = toCents(refundedTotal) - named
  if (unnamed <= 0n) return refunded.map(toMoney)
  if (unnamed >= leftTotal) return refunded.map((each, i) => toMoney(each + left[i]!))
  const shares = left.map((each, index) => ({
    index,
    cents: (each * unnamed) / leftTotal,
    remainder: (each * unnamed) % leftTotal,
  }))
  let over = unnamed - shares.reduce((sum, share) => sum + share.cents, 0n)
  const byRemainder = [...shares].sort((a, b) =>
    a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1,
  )
  for (const share of byRemainder) {
    if (over === 0n) break
    share.cents += 1n
    over -= 1n
  }
  return shares.map((share, index) => toMoney(refunded[index]! + share.cents))
}

const positive = (cents: bigint): bigint => (cents > 0n ? cents : 0n)
