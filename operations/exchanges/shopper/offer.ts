/** What of an order a shopper may ask for now (rule 2). */
import { snapshots } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { lineLeft, moneyLeft } from '../requests/left.ts'
import { heldOf } from '../requests/units.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import {
  availableQuantity,
  type ItemFault,
  itemFault,
  type OrderFault,
  orderFault,
  type RequestType,
  windowEnd,
} from './eligibility.ts'
import type { ReadItem, ReadOrder } from './read-order.ts'

export interface Offer {
  order: ReadOrder
  /** Those that the store takes. */
  types: OfferedType[]
  items: OfferedItem[]
  /** What of its money has been neither paid back nor promised; decimal text. */
  moneyLeft: string
}

export interface OfferedType {
  type: RequestType
  windowEndsAt: Date
  isOutside: boolean
  /** Null where it can be asked for, late where that is allowed. */
  fault: OrderFault | null
}

export interface OfferedItem extends ReadItem {
  variantName: string | null
  availableQuantity: number
  /** Places in the line of the first so many units that can be asked for; no more of them than `availableQuantity`. */
  places(most: number): readonly number[]
  /** Of the line's money; decimal text. */
  moneyLeft: string
  /** Its own, the order's apart; null where it can be asked for. */
  fault: ItemFault | null
}

export async function offerOf(ctx: Context, settings: ExchangeContent, order: ReadOrder): Promise<Offer> {
  const productIds = order.items.flatMap(({ productId }) => productId ?? [])
  const products = await snapshots.find(ctx, productIds)
  const { lines, requests, hasOpenRequest } = await heldOf(ctx, order.id)
  const fault = orderFault({ ...order, hasOpenRequest }, settings)
  const now = ctx.now()
  return {
    order,
    moneyLeft: moneyLeft(order, requests),
    types: settings.types.map((type) => {
      const windowEndsAt = windowEnd(order, settings, type, ctx.store.timezone)
      const isOutside = now > windowEndsAt
      const isLate = isOutside && !settings.allowOutsideWindow
      return { type, windowEndsAt, isOutside, fault: fault ?? (isLate ? 'outside-window' : null) }
    }),
    items: order.items.map((item) => {
      const product = item.productId === null ? undefined : products.get(item.productId)
      const { places, moneyLeft: ofLine, ...left } = lineLeft(item, lines.get(item.id) ?? [])
      const facts = { ...item, ...left, categoryIds: product?.categoryIds ?? [] }
      const variant = product?.variants.find(({ variantId }) => variantId === item.variantId)
      return {
        ...item,
        variantName: variant?.name ?? null,
        availableQuantity: availableQuantity(facts),
        places,
        moneyLeft: ofLine,
        fault: itemFault(facts, settings),
      }
    }),
  }
}

/** Why an item cannot be asked for in any way; its order's reasons come first. */
export const faultOf = ({ types }: Offer, item: OfferedItem): ItemFault | null =>
  types.every(({ fault }) => fault !== null) ? (types[0]?.fault ?? item.fault) : item.fault
