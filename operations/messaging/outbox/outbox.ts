/** Public API of the outbox, which sends the messages of all sections (rule 10). */
export { defineBatchSource, defineSingleSource } from './define-source.ts'
export {
  type DispatchReport,
  type DispatchResult,
  dispatch,
  type OutgoingMessage,
} from './dispatch.ts'
export {
  deadAfterMs,
  indeterminateAfterMs,
  type MessageState,
  type OutboxSource,
  type RequeueReason,
  type Transition,
} from './outbox-source.ts'
export { releaseUnits, reserveUpTo } from './quota-units.ts'
export { campaignRateShare, defaultRateShare, getBatchSize } from './rate-shares.ts'
export { findDueMessages, lockMessages, markCalled, selectMessages } from './rows.ts'
export {
  deadLetter,
  dispatchOne,
  type Failure,
  type Prepared,
  type SingleState,
} from './single.ts'
export { type StoredContent, toInboxFields, toOutgoing } from './stored-content.ts'
export {
  applyOutcome,
  applyTransitions,
  endForErasure,
  indeterminate,
  type Outcome,
  recordOutcomes,
} from './transitions.ts'
