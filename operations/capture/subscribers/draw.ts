/** Draws a prize (rule 2). No database access. */
import type { Prize } from '../popup/schema.ts'

/** A prize's weight: its probability in hundredths of a per cent. */
// biome-ignore lint/plugin/cents: a chance in per cent, not money
const toWeight = ({ probability }: Pick<Prize, 'probability'>): number => Math.round(probability * 100)

/** The sum of all weights. A draw picks a random whole number below it. */
export const sumWeights = (prizes: readonly Pick<Prize, 'probability'>[]): number =>
  prizes.reduce((sum, prize) => sum + toWeight(prize), 0)

/**
 * Returns the first prize at which the running sum of weights exceeds `r`; null without prizes. `r` is a whole number
 * from 0 to below `sumWeights`.
 */
export function findPrize<P extends Pick<Prize, 'probability'>>(prizes: readonly P[], r: number): P | null {
  let sum = 0
  for (const prize of prizes) {
    sum += toWeight(prize)
    if (sum > r) return prize
  }
  return null
}
