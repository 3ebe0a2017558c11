/** The attribution window of each source, in hours, as set by the store; and the earlier settings. */

export interface AttributionHours {
  automationHours: number
  messagingCampaignHours: number
  newsletterHours: number
  stockNotificationHours: number
}

export const defaultHours: AttributionHours = {
  automationHours: 120,
  messagingCampaignHours: 120,
  newsletterHours: 168,
  stockNotificationHours: 168,
}

/** The JSON of `stores.attribution`: the current hours, and the earlier hours, oldest first. */
export interface StoredHours extends Partial<AttributionHours> {
  /** `until`: the last instant at which these hours were in force. */
  earlier?: (AttributionHours & { until: string })[]
}

/** The hours in force when an order was placed. */
export function findHoursAt(stored: StoredHours, placedAt: Date): AttributionHours {
  const before = stored.earlier?.find((each) => placedAt.getTime() <= Date.parse(each.until))
  return withDefaultHours(before ?? stored)
}

/** Returns the JSON to store after a change at `now`, or the same object if nothing changed. */
export function changeHours(stored: StoredHours, change: Partial<AttributionHours>, now: Date): StoredHours {
  const current = withDefaultHours(stored)
  const next = { ...current, ...change }
  if (JSON.stringify(withDefaultHours(next)) === JSON.stringify(current)) return stored
  return {
    ...withDefaultHours(next),
    earlier: [...(stored.earlier ?? []), { ...current, until: now.toISOString() }],
  }
}

/** The four hours without the history; missing hours get their default. */
export function withDefaultHours(stored: StoredHours): AttributionHours {
  const given = { ...defaultHours, ...stored }
  return {
    automationHours: given.automationHours,
    messagingCampaignHours: given.messagingCampaignHours,
    newsletterHours: given.newsletterHours,
    stockNotificationHours: given.stockNotificationHours,
  }
}
