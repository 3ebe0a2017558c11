/** How fast a campaign goes. */

/** Of the number's rate; the rest is for one-to-one messages. */
export const share = 0.8
const batchSeconds = 2
const batchAtMost = 500

/** Messages that the number may send in two seconds. `perSecond`: its whole rate. */
export const batchSize = (perSecond: number): number =>
  Math.min(batchAtMost, Math.max(1, Math.floor(perSecond * share * batchSeconds)))
