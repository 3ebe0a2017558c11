/** Failure codes of a notice that is not sent because a precondition fails. */
export type PreconditionCode = 'moved-on' | 'too-late' | 'turned-off' | 'subscription-inactive'

declare module '#operations/messaging/outbox/outbox-source' {
  interface FailureCodes extends Record<PreconditionCode, true> {}
}
