/** Public API of the section. */
export type { RecentReview } from './alerts/reviews-port.ts'
