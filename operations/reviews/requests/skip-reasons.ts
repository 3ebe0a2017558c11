/** The reasons for which a review request is not sent. */

const skipReasons = [
  'order-cancelled',
  'refunded',
  'product-gone',
  'already-reviewed',
  'recent-request',
  'no-contact',
  'opted-out',
  'requests-disabled',
  'quota',
] as const
/** Why a request is skipped, either when it is planned or just before it is sent. */
export type SkipReason = (typeof skipReasons)[number]
export const isSkip = (code: string | null): boolean => skipReasons.some((each) => each === code)

declare module '#operations/messaging/outbox/outbox-source' {
  interface FailureCodes extends Record<SkipReason, true> {}
}
