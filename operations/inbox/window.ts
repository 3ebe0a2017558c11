/** The 24 hours after a contact's last message, as their conversation knows it. */
import { dayMs } from '#runtime/durations'

const windowMs = dayMs

/** At the very instant it is closed. */
export const isWindowOpen = (lastInboundAt: Date | null, now: Date): boolean =>
  lastInboundAt !== null && now.getTime() < lastInboundAt.getTime() + windowMs
