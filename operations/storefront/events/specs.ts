/** Which events of shoppers' browsers count, and for what. */
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

/** One that was accepted: new, of a known resource, of a store that has the feature. */
export interface StorefrontEvent {
  id: string
  type: EventType
  /** Empty where the widget has no resources. */
  resourceId: string
  productId: string | null
  variantId: string | null
  visitorId: string
  device: 'mobile' | 'desktop' | null
  contact: { email: string | null; phone: string | null; name: string | null; consent: boolean } | null
}

/** What one resource's all-time counters grow by. */
export interface Counted {
  resourceId: string
  impressions: number
  clicks: number
  closes: number
  cartAdds: number
}

/** What a widget tells of; `page`: of no widget at all, a product that is looked at or put into the cart. */
export interface EventSpec {
  /** Of the plan; null: of every store whose subscription may write. */
  feature: string | null
  types: readonly EventType[]
  /** Of these resource ids, those of this store that can be counted now; absent where the widget has no resources. */
  existing?(ctx: Context, resourceIds: readonly string[]): Promise<ReadonlySet<string>>
  /** All-time counters of its own, in the transaction of the events; locks in the order given (by resource id). */
  count?(ctx: Context, counted: readonly Counted[]): Promise<void>
  /** More than counting (a wish), in the same transaction; in the order in which the browser told them. */
  apply?(ctx: Context, events: readonly StorefrontEvent[]): Promise<void>
}
