/** Decides whether the messaging window is open: free text is allowed for 24 hours after the contact's last message. */
import { dayMs } from '#runtime/durations'

const windowMs = dayMs

/** Whether the window is open. After exactly 24 hours it is closed. */
export const isWindowOpen = (lastInboundAt: Date | null, now: Date): boolean =>
  lastInboundAt !== null && now.getTime() < lastInboundAt.getTime() + windowMs
