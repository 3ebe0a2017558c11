/** The parts of `GET /storefront/:publicId/widgets`: one from each section with something to show. */
import type { Context } from '#runtime/context'

export const widgetPages = ['home', 'category', 'product', 'cart', 'other'] as const

export interface WidgetQuery {
  page: (typeof widgetPages)[number]
  /** The product of a product page, or null. */
  productId: string | null
  /** Products that the page lists, in order. */
  cards: readonly string[]
}

export interface Widget {
  /**
   * The public value under the key: settings, texts and prices, no internal names or counters. Null: nothing to show
   * before `until`.
   */
  value: unknown
  /** When it changes by itself (a schedule starts or ends), or null. */
  until?: Date | null
}

export interface WidgetSpec {
  /** Feature of the plan; a store without it does not get the key. */
  feature: string
  /** Null: nothing to show. Reads the store's rows in few statements, never calls the platform. */
  build(ctx: Context, query: WidgetQuery): Promise<Widget | null>
  /** Values for the cards of these products, by product; products without a value are left out. Few statements, too. */
  cards?(ctx: Context, productIds: readonly string[]): Promise<ReadonlyMap<string, unknown>>
}
