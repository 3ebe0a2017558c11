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

/** An accepted event: new, of a known resource, of a store that has the feature. */
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

/** Events of a widget; `page` has no widget: product views and additions to the cart. */
export interface EventSpec {
  /** Feature of the plan; null: any store whose subscription may write. */
  feature: string | null
  types: readonly EventType[]
  /** Those of the resource ids that exist in this store and can be counted; absent if the widget has no resources. */
  existing?(ctx: Context, resourceIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Updates the resource's own all-time counters, in the events' transaction; locks rows in the given order (by
   * resource id).
   */
  count?(ctx: Context, counted: readonly Counted[]): Promise<void>
  /** Effects other than counting (a wish), in the same transaction, in the browser's order. */
  apply?(ctx: Context, events: readonly StorefrontEvent[]): Promise<void>
}
