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

/** The query of a page, which may name listed products by the handles of their addresses. */
export interface PageQuery extends WidgetQuery {
  handles?: readonly string[]
}

export interface Widget {
  /**
   * The public value under the key: settings, texts and prices, without internal names and counters. Null if there is
   * nothing to show before `until`.
   */
  value: unknown
  /** When the value changes by itself because a schedule starts or ends, or null. */
  until?: Date | null
}

export interface WidgetSpec {
  /** Feature of the plan that the widget needs. The response of a store without the feature lacks the key. */
  feature: string
  /** Builds the widget, or null if there is nothing to show. Must use few statements and never call the platform. */
  build(ctx: Context, query: WidgetQuery): Promise<Widget | null>
  /** Values for the cards of these products, by product; products without a value are left out. Must use few statements. */
  cards?(ctx: Context, productIds: readonly string[]): Promise<ReadonlyMap<string, unknown>>
}
