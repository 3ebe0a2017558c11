/** What `GET /storefront/:publicId/widgets` puts together: one part from each section that has something to show. */
import type { Context } from '#runtime/context'

export const widgetPages = ['home', 'category', 'product', 'cart', 'other'] as const

export interface WidgetQuery {
  page: (typeof widgetPages)[number]
  /** The product of a product page, or null. */
  productId: string | null
  /** Products that the page shows in a list, in order. */
  cards: readonly string[]
}

export interface Widget {
  /** What the storefront gets under the key: public settings, texts and prices, no internal names or counters. Null:
   * nothing to show before `until`. */
  value: unknown
  /** When it will be another by itself (a schedule begins or ends), or null. */
  until?: Date | null
}

export interface WidgetSpec {
  /** Of the plan; a store that may not use it gets no such key. */
  feature: string
  /** Null: nothing to show. Reads the store's rows, never calls the platform; few statements. */
  build(ctx: Context, query: WidgetQuery): Promise<Widget | null>
  /** What the cards of these products show of it, by product; who shows nothing is left out. As few statements. */
  cards?(ctx: Context, productIds: readonly string[]): Promise<ReadonlyMap<string, unknown>>
}
