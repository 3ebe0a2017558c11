/** How messages share the rate of a number, and how many leave together. */

/** The share of a number's rate that all messages but campaigns' have. */
export const share = 0.2
export const campaignShare = 0.8

const turnSeconds = 2
const turnAtMost = 500

/** Messages that the number may send in two seconds. `perSecond`: its whole rate. */
export const turnSize = (perSecond: number, ofRate = share): number =>
  Math.min(turnAtMost, Math.max(1, Math.floor(perSecond * ofRate * turnSeconds)))
