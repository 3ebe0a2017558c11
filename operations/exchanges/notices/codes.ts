/** Why a notice did not leave, or did not arrive. */
import type { LaneFailure } from '#operations/messaging/door'
import type { MailRefusal } from '#runtime/ports/mail/port'

/** Nothing calls for it any more, or not by this way. */
export type Objection = 'moved-on' | 'too-late' | 'turned-off' | 'subscription-inactive'

export type NoticeFailure = LaneFailure | MailRefusal | Objection
