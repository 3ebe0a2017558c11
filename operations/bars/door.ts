/** What other sections use of this one. */
export type { RecentReview } from './alerts/reviews-port.ts'
