/** Creates and changes carts of the sandbox's shops. */

import { hundredths, sumCents } from '#runtime/values/money'
import type { Cart } from './port.ts'
import { buildItems, type OrderInput, upsertCustomer } from './sandbox-orders.ts'
import {
  findObjects,
  instantText,
  nextNumber,
  putObjects,
  readShopFacts,
  type Shop,
  withShopLock,
} from './sandbox-rows.ts'

/** The body of `POST /sandbox/api/ecommerce/:storeId/carts`. */
export interface CartInput {
  /** The id of the cart to change or create; default: the shop's next number. */
  id?: string | undefined
  customer: OrderInput['customer']
  items: OrderInput['items']
  lastActivityAt?: Date | string | undefined
}

/** A cart, and when it was last written. */
export interface WrittenCart {
  cart: Cart
  updatedAt: string
}

/**
 * Creates or changes a cart. A visitor without id, email and phone stays anonymous. Throws `Refused` for an unknown
 * variant.
 */
export function putSandboxCart(shop: Shop, input: CartInput): Promise<WrittenCart> {
  return withShopLock(shop, async (locked) => {
    const facts = await readShopFacts(locked)
    const { id: customerId, name, email, phone } = input.customer
    const isKnown = Boolean(customerId || email || phone)
    const customer = isKnown
      ? await upsertCustomer(locked, facts, input.customer)
      : { id: null, name: name ?? null, email: null, phone: null }
    const id = input.id ?? (await nextNumber(locked, 'cart', 7000))
    const items = await buildItems(locked, id, input.items, facts.currency)
    const [before] = await findObjects<Cart>(locked, 'cart', [id])
    const cart: Cart = {
      id,
      customer,
      items,
      total: hundredths.toMoney(sumCents(items.map((item) => hundredths.toCents(item.total)))),
      currency: facts.currency,
      url: `https://${facts.domain}/cart/${id}`,
      orderId: before?.orderId ?? null,
      lastActivityAt: instantText(input.lastActivityAt ?? shop.clock.now()),
    }
    return write(locked, cart)
  })
}

/** Marks the cart as ordered; null if there is no such cart. */
export async function orderCart(shop: Shop, cartId: string, orderId: string): Promise<WrittenCart | null> {
  return withShopLock(shop, async (locked) => {
    const [cart] = await findObjects<Cart>(locked, 'cart', [cartId])
    return cart ? write(locked, { ...cart, orderId }) : null
  })
}

/** Gives each write a later `updatedAt`, even within one millisecond or with a frozen clock. */
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
