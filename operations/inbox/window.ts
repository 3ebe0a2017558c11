/** The 24 hours after a contact's last message, as their conversation knows it. */
const windowMs = 24 * 3_600_000

/** At the very instant it is closed. */
export const isWindowOpen = (lastInboundAt: Date | null, now: Date): boolean =>
  lastInboundAt !== null && now.getTime() < lastInboundAt.getTime() + windowMs
