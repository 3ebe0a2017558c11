/** What other sections may use of this one. */
export { useMailingLists, useUnsubscribeLinks } from './ports.ts'
export { unsubscribed } from './subscribe.ts'
