/** What other sections use of this one. */
export { type RecentReview, registerReviews } from './alerts/reviews-port.ts'
