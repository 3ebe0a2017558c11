/** What other sections may use of this one. */
export { type ManualEntry, registerManualEntry } from './automations-port.ts'
export { type Reviewer, registerReviews } from './reviews-port.ts'
export { noticeConnection } from './switch.ts'
