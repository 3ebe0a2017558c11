/** Computes the types, items, units and money of an order that a shopper may request now (rule 2). */
import { snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import type { ReadItem, ReadOrder } from '../requests/read-order.ts'
import { computeLineRemaining } from '../requests/remaining.ts'
import {
  findOpenRequests,
  type OpenRequest,
  type OrderReservations,
  readReservations,
} from '../requests/units.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import {
  computeAvailableQuantity,
  computeWindowEnd,
  findItemIneligibility,
  findOrderIneligibility,
  type ItemIneligibility,
  type OrderIneligibility,
  type RequestType,
} from './eligibility.ts'

export interface Offer {
  order: ReadOrder
  /** Types that the store accepts. */
  types: OfferedType[]
  items: OfferedItem[]
  /** Units and money of the order that other requests reserve. */
  reservations: OrderReservations
  openRequests: OpenRequest[]
}

export interface OfferedType {
  type: RequestType
  windowEndsAt: Date
  isOutside: boolean
  /** Null when the type can be requested, which includes late requests if the settings allow them. */
  ineligibility: OrderIneligibility | null
}

export interface OfferedItem extends ReadItem {
  variantName: string | null
  availableQuantity: number
  /** Indexes within the line of the first `most` available units; no more than `availableQuantity`. */
  places(most: number): readonly number[]
  /** The reason why the item itself is not eligible, without considering its order; null when it is eligible. */
  ineligibility: ItemIneligibility | null
}

export async function buildOffer(ctx: Context, settings: ExchangeContent, order: ReadOrder): Promise<Offer> {
  const productIds = order.items.flatMap(({ productId }) => productId ?? [])
  const products = await snapshots.find(ctx, productIds)
  const reservations = await readReservations(ctx, order)
  const { lines, hasOpenRequest } = reservations
  const ineligibility = findOrderIneligibility({ ...order, hasOpenRequest }, settings)
  const now = ctx.now()
  return {
    order,
    reservations,
    openRequests: hasOpenRequest ? await findOpenRequests(ctx, order.id) : [],
    types: settings.types.map((type) => {
      const windowEndsAt = computeWindowEnd(order, settings, type, ctx.store.timezone)
      const isOutside = now > windowEndsAt
      const isLate = isOutside && !settings.allowOutsideWindow
      return {
        type,
        windowEndsAt,
        isOutside,
        ineligibility: ineligibility ?? (isLate ? 'outside-window' : null),
      }
    }),
    items: order.items.map((item) => {
      const product = item.productId === null ? undefined : products.get(item.productId)
      const {
        places,
        moneyLeft: _ofLine,
        ...remaining
      } = computeLineRemaining(item, lines.get(item.id) ?? [], order.currency)
      const facts = { ...item, ...remaining, categoryIds: product?.categoryIds ?? [] }
      const variant = product?.variants.find(({ variantId }) => variantId === item.variantId)
      return {
        ...item,
        variantName: variant?.name ?? null,
        availableQuantity: computeAvailableQuantity(facts),
        places,
        ineligibility: findItemIneligibility(facts, settings),
      }
    }),
  }
}

/** The reason why an item is eligible for no type, or null. A reason that concerns the whole order takes precedence. */
export const findIneligibility = ({ types }: Offer, item: OfferedItem): ItemIneligibility | null =>
  types.every(({ ineligibility }) => ineligibility !== null)
    ? (types[0]?.ineligibility ?? item.ineligibility)
    : item.ineligibility
