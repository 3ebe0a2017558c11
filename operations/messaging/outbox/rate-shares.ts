/** How messages share a number's rate, and how large a batch is. */

/** The share of a number's rate for everything except campaigns. */
export const defaultRateShare = 0.2
export const campaignRateShare = 0.8

const batchSeconds = 2
const maxBatchSize = 500

/** The number of messages that fit into two seconds of a share of the rate. `perSecond`: the number's whole rate. */
export const getBatchSize = (perSecond: number, ofRate = defaultRateShare): number =>
  Math.min(maxBatchSize, Math.max(1, Math.floor(perSecond * ofRate * batchSeconds)))
