/** Why a request is not sent, or did not arrive. */

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
/** What speaks against a request, when it is planned and again just before it leaves. */
export type SkipReason = (typeof skipReasons)[number]
export const isSkip = (code: string | null): boolean => skipReasons.some((each) => each === code)

declare module '#operations/messaging/outbox/lane' {
  interface Codes extends Record<SkipReason, true> {}
}
