/** Why a request is not sent, or did not arrive. */
import type { LaneFailure } from '#operations/messaging/door'
import type { MailRefusal } from '#runtime/ports/mail/port'

/** What speaks against a request, when it is planned and again just before it leaves. */
export type SkipReason =
  | 'order-cancelled'
  | 'refunded'
  | 'product-gone'
  | 'already-reviewed'
  | 'recent-request'
  | 'no-contact'
  | 'opted-out'
  | 'requests-disabled'
  | 'quota'

/** Why its message failed. */
export type FailureCode = LaneFailure | MailRefusal
