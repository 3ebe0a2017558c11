/** What the payer who comes back from a provider is told: asked of the provider, stored, and applied at once. */

import { amongStores, storesListed } from '#db/directory/find'
import { providersKey } from '#db/directory/listed'
import { applyEvents } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { billingPortOf, storeBillingEvents } from './billing-hook.ts'

const looksBackMs = 48 * hourMs

/**
 * `waiting`: the provider has not decided yet, or we have not applied it. `unanswered`: it cannot be asked now.
 * `closed`: another checkout took its place before it was paid.
 */
export interface Returned {
  result: 'unknown' | 'waiting' | 'unanswered' | 'closed' | 'approved' | 'rejected'
  isCardUpdate: boolean
}

/**
 * Safe to open as often as one likes: the same events have the same keys. The provider is asked only about a checkout
 * that is ours.
 */
export async function returnedFromProvider(ctx: SystemContext, query: URLSearchParams): Promise<Returned> {
  const provider = query.get('provider') ?? ''
  const port = billingPortOf(ctx, provider)
  const id = port?.checkoutOfReturn(query)
  const stores = id ? await storesListed(ctx.root, 'checkout', [providersKey(provider, id)]) : []
  const find = () =>
    ctx.root
      .selectFrom('checkouts')
      .select(['kind', 'status'])
      .where('provider', '=', provider)
      .where('provider_checkout_id', '=', id ?? '')
      .where(amongStores('store_id', stores))
      .executeTakeFirst()
  const checkout = id ? await find() : undefined
  if (!port || !id || !checkout) return { result: 'unknown', isCardUpdate: false }
  const isCardUpdate = checkout.kind === 'card-update'
  try {
    const since = new Date(ctx.now().getTime() - looksBackMs)
    const told = await port.eventsOf(id, { since })
    const keys = await storeBillingEvents(ctx, provider, told)
    const isApplied = await applyEvents(ctx, 'billing', provider, keys)
    const outcome = told.find((event) => event.kind === 'checkout')?.data.outcome
    const status = (await find())?.status
    if (status === 'cancelled' || status === 'expired') return { result: 'closed', isCardUpdate }
    return { result: (isApplied && outcome) || 'waiting', isCardUpdate }
  } catch (error) {
    if (error instanceof Refused) return { result: 'unknown', isCardUpdate }
    if (!(error instanceof Unavailable || error instanceof Throttled)) throw error
    ctx.log.warn({ err: error, provider }, 'the billing provider could not be asked')
    return { result: 'unanswered', isCardUpdate }
  }
}
