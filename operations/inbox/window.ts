/** The messaging window: 24 hours after the contact's last message. */
import { dayMs } from '#runtime/durations'

const windowMs = dayMs

/** The end is exclusive: after exactly 24 hours the window is closed. */
export const isWindowOpen = (lastInboundAt: Date | null, now: Date): boolean =>
  lastInboundAt !== null && now.getTime() < lastInboundAt.getTime() + windowMs
