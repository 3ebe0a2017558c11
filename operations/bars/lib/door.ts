/** What other sections use of this one. */
export { type RecentReview, registerReviews } from './reviews-port.ts'
