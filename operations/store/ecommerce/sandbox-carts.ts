/** Carts of the sandbox's shops. */

import { sumOf, toCents, toMoney } from '#runtime/values/money'
import type { Cart } from './port.ts'
import { customerOf, itemsOf, type OrderInput } from './sandbox-orders.ts'
import {
  findObjects,
  instantText,
  inTurn,
  nextNumber,
  putObjects,
  type Shop,
  shopFacts,
} from './sandbox-rows.ts'

/** The body of `POST /sandbox/api/ecommerce/:storeId/carts`. */
export interface CartInput {
  /** A cart that exists is changed; default: the next number of the shop. */
  id?: string | undefined
  customer: OrderInput['customer']
  items: OrderInput['items']
  lastActivityAt?: Date | string | undefined
}

/** A cart and when the platform last wrote it. */
export interface WrittenCart {
  cart: Cart
  updatedAt: string
}

/**
 * Fills a cart, or changes what is in it. A visitor without id, email and phone is nobody yet. Throws `Refused` for a
 * variant that no product has.
 */
export function putCart(shop: Shop, input: CartInput): Promise<WrittenCart> {
  return inTurn(shop, async (turn) => {
    const facts = await shopFacts(turn)
    const { id: customerId, name, email, phone } = input.customer
    const isKnown = Boolean(customerId || email || phone)
    const customer = isKnown
      ? await customerOf(turn, facts, input.customer)
      : { id: null, name: name ?? null, email: null, phone: null }
    const id = input.id ?? (await nextNumber(turn, 'cart', 7000))
    const items = await itemsOf(turn, id, input.items)
    const [before] = await findObjects<Cart>(turn, 'cart', [id])
    const cart: Cart = {
      id,
      customer,
      items,
      total: toMoney(sumOf(items.map((item) => toCents(item.total)))),
      currency: facts.currency,
      url: `https://${facts.domain}/cart/${id}`,
      orderId: before?.orderId ?? null,
      lastActivityAt: instantText(input.lastActivityAt ?? shop.clock.now()),
    }
    return write(turn, cart)
  })
}

/** The cart became an order; null when there is no such cart. */
export async function orderCart(shop: Shop, cartId: string, orderId: string): Promise<WrittenCart | null> {
  return inTurn(shop, async (turn) => {
    const [cart] = await findObjects<Cart>(turn, 'cart', [cartId])
    return cart ? write(turn, { ...cart, orderId }) : null
  })
}

/** Two changes within one millisecond, or under a clock that stands still, are two versions all the same. */
async function write(shop: Shop, cart: Cart): Promise<WrittenCart> {
  const row = await shop.db
    .selectFrom('sandbox_objects')
    .select('updated_at')
    .where('store_id', '=', shop.storeId)
    .where('kind', '=', 'cart')
    .where('id', '=', cart.id)
    .executeTakeFirst()
  const before = row ? new Date(row.updated_at).getTime() : 0
  const updatedAt = new Date(Math.max(shop.clock.ms(), before + 1)).toISOString()
  await putObjects(shop, 'cart', [{ id: cart.id, data: cart, updatedAt }])
  return { cart, updatedAt }
}
