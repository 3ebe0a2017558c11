/** The draw of a prize (rule 2). No database. */
import type { Prize } from '../popup/schema.ts'

/** Hundredths of a per cent that a prize has. */
// biome-ignore lint/plugin/cents: a chance in per cent, not money
const weightOf = ({ probability }: Pick<Prize, 'probability'>): number => Math.round(probability * 100)

/** Over which numbers is drawn: the sum of the weights. */
export const weightOfAll = (prizes: readonly Pick<Prize, 'probability'>[]): number =>
  prizes.reduce((sum, prize) => sum + weightOf(prize), 0)

/** The first prize whose running sum exceeds `r`, a whole number from 0 to below `weightOfAll`; null without prizes. */
export function prizeAt<P extends Pick<Prize, 'probability'>>(prizes: readonly P[], r: number): P | null {
  let sum = 0
  for (const prize of prizes) {
    sum += weightOf(prize)
    if (sum > r) return prize
  }
  return null
}
