/** Reasons why a request is not sent. */

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
/** Found when a request is planned, or again just before it is sent. */
export type SkipReason = (typeof skipReasons)[number]
export const isSkip = (code: string | null): boolean => skipReasons.some((each) => each === code)

declare module '#operations/messaging/outbox/outbox-source' {
  interface FailureCodes extends Record<SkipReason, true> {}
}
