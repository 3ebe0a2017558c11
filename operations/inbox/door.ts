/** What other sections may use of this one. */
export type { Reviewer } from './conversations/reviews-port.ts'
