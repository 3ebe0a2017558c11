/** What other sections may use of this one. */
export { type Reviewer, registerReviews } from './reviews-port.ts'
export { noticeConnection } from './switch.ts'
