/** Answers an ecommerce platform that asks at each change of a cart what our discounts take off. */
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { isId } from '#runtime/values/ids'
import { isCartKey } from '../ecommerce/urls/cart-url.ts'
import { findEcommerce } from './connections.ts'

/** Null: nothing changes. Refuses a wrong key, a store that is not connected, and a cart that cannot be read. */
export async function answerCart(
  ctx: SystemContext,
  { provider, storeId, key }: { provider: string; storeId: string; key: string },
  body: Uint8Array,
): Promise<object | null> {
  const store = isId(storeId) && isCartKey(ctx.settings, storeId, key) ? await ctx.forStore(storeId) : null
  const connected = store && (await findEcommerce(store))
  if (!connected || connected.provider !== provider || !connected.port.answerCart) {
    throw refuse('not_found', 'No store is connected to this platform here')
  }
  try {
    return await connected.port.answerCart(connected.store, body)
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', error.message)
    throw error
  }
}
