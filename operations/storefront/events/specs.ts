/** Which browser events count, and for which resources. */
import type { Context } from '#runtime/context'

export const eventTypes = [
  'impression',
  'click',
  'close',
  'cart-add',
  'product-view',
  'wishlist-add',
  'wishlist-remove',
  'wishlist-contact',
] as const
export type EventType = (typeof eventTypes)[number]

/** An accepted event: it is new, its resource exists, and the store has the feature. */
export interface StorefrontEvent {
  id: string
  type: EventType
  /** Empty if the widget has no resources. */
  resourceId: string
  productId: string | null
  variantId: string | null
  visitorId: string
  device: 'mobile' | 'desktop' | null
  contact: { email: string | null; phone: string | null; name: string | null; consent: boolean } | null
}

/** Increments of one resource's all-time counters. */
export interface Counted {
  resourceId: string
  impressions: number
  clicks: number
  closes: number
  cartAdds: number
}

/**
 * How the events of a widget count. Product views and additions to the cart belong to no widget and have the name
 * `page`.
 */
export interface EventSpec {
  /** Feature of the plan that the events need; null for any store whose subscription may write. */
  feature: string | null
  types: readonly EventType[]
  /** Returns which of the resource ids exist in this store and can be counted. Absent if the widget has no resources. */
  existing?(ctx: Context, resourceIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Updates the all-time counters of the resources, in the transaction that stores the events. Must lock the rows in the
   * given order (by resource id).
   */
  count?(ctx: Context, counted: readonly Counted[]): Promise<void>
  /**
   * Applies effects other than counting, such as a wish. Gets the events in the browser's order, in the same
   * transaction.
   */
  apply?(ctx: Context, events: readonly StorefrontEvent[]): Promise<void>
}
