/** The page a payer returns to: fetches the result from the provider, stores and applies it at once. */

import { buildProviderKey } from '#db/lookup-index/definitions'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import { applyEvents } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { findBillingPort, storeBillingEvents } from './billing-hook.ts'

const lookbackMs = 48 * hourMs

/**
 * `waiting`: the provider has not decided yet, or its result is not applied yet. `unanswered`: the provider is unavailable.
 * `closed`: another checkout replaced this one before it was paid.
 */
export interface ReturnResult {
  result: 'unknown' | 'waiting' | 'unanswered' | 'closed' | 'approved' | 'rejected'
  isCardUpdate: boolean
}

/**
 * Resolves the query of the return address to a result. Idempotent: repeated events have the same keys. Calls the provider
 * only if the query names one of our checkouts.
 */
export async function resolveReturn(ctx: SystemContext, query: URLSearchParams): Promise<ReturnResult> {
  const provider = query.get('provider') ?? ''
  const port = findBillingPort(ctx, provider)
  const id = port?.parseReturn(query)
  const stores = id ? await findStoreIds(ctx.root, 'checkout', [buildProviderKey(provider, id)]) : []
  const find = () =>
    ctx.root
      .selectFrom('checkouts')
      .select(['kind', 'status'])
      .where('provider', '=', provider)
      .where('provider_checkout_id', '=', id ?? '')
      .where(isInStores('store_id', stores))
      .executeTakeFirst()
  const checkout = id ? await find() : undefined
  if (!port || !id || !checkout) return { result: 'unknown', isCardUpdate: false }
  const isCardUpdate = checkout.kind === 'card-update'
  try {
    const since = new Date(ctx.now().getTime() - lookbackMs)
    const received = await port.listEvents(id, { since })
    const keys = await storeBillingEvents(ctx, provider, received)
    const isApplied = await applyEvents(ctx, 'billing', provider, keys)
    const outcome = received.find((event) => event.kind === 'checkout')?.data.outcome
    const status = (await find())?.status
    if (status === 'cancelled' || status === 'expired') return { result: 'closed', isCardUpdate }
    return { result: (isApplied && outcome) || 'waiting', isCardUpdate }
  } catch (error) {
    if (error instanceof Refused) return { result: 'unknown', isCardUpdate }
    if (!(error instanceof Unavailable || error instanceof Throttled)) throw error
    ctx.log.warn({ err: error, provider }, 'billing provider unavailable on return')
    return { result: 'unanswered', isCardUpdate }
  }
}
