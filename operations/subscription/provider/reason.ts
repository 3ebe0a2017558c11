/** The text on the payer's statement: `Growth, monthly`. */
export const buildReason = ({ planId, billingCycle }: { planId: string; billingCycle: string }): string =>
  `${planId.charAt(0).toUpperCase()}${planId.slice(1)}, ${billingCycle}`

/** Months between the charges of a cycle. */
export const countMonths = (billingCycle: 'monthly' | 'yearly'): number =>
  billingCycle === 'yearly' ? 12 : 1
