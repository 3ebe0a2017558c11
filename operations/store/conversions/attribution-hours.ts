/** How long after a message an order may still be attributed to it: the store's setting, as it was at any instant. */

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

/** `stores.attribution`: what holds now, and what held before, oldest first. */
export interface StoredHours extends Partial<AttributionHours> {
  /** `until`: the last instant at which these hours held. */
  earlier?: (AttributionHours & { until: string })[]
}

/** The hours that held when an order was placed: new ones hold for orders placed later. */
export function hoursAt(stored: StoredHours, placedAt: Date): AttributionHours {
  const before = stored.earlier?.find((each) => placedAt.getTime() <= Date.parse(each.until))
  return hoursOf(before ?? stored)
}

/** The stored form after a change at `now`; unchanged hours answer the same object. */
export function changedHours(stored: StoredHours, change: Partial<AttributionHours>, now: Date): StoredHours {
  const current = hoursOf(stored)
  const next = { ...current, ...change }
  if (JSON.stringify(hoursOf(next)) === JSON.stringify(current)) return stored
  return { ...hoursOf(next), earlier: [...(stored.earlier ?? []), { ...current, until: now.toISOString() }] }
}

/** The four numbers, defaults filled in. */
export function hoursOf(stored: StoredHours): AttributionHours {
  const given = { ...defaultHours, ...stored }
  return {
    automationHours: given.automationHours,
    messagingCampaignHours: given.messagingCampaignHours,
    newsletterHours: given.newsletterHours,
    stockNotificationHours: given.stockNotificationHours,
  }
}
