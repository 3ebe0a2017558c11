/** What the payer who comes back from a provider is told: asked of the provider, stored, and applied at once. */
import { applyEvents } from '#operations/store/lib/door'
import type { SystemContext } from '#runtime/context'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { billingPortOf, storeBillingEvents } from './billing-hook.ts'

const looksBackMs = 48 * 3_600_000

/** `waiting`: the provider has not decided yet, or we have not applied it. `unanswered`: it cannot be asked now. */
export type Returned =
  | { result: 'unknown' | 'waiting' | 'unanswered' }
  | { result: 'approved' | 'rejected'; isCardUpdate: boolean }

/** Safe to open as often as one likes: the same events have the same keys. */
export async function returnedFromProvider(ctx: SystemContext, query: URLSearchParams): Promise<Returned> {
  const provider = query.get('provider') ?? ''
  const port = billingPortOf(ctx, provider)
  const id = port?.checkoutOfReturn(query)
  if (!port || !id) return { result: 'unknown' }
  try {
    const since = new Date(ctx.now().getTime() - looksBackMs)
    const told = await port.eventsOf(id, { since })
    const keys = await storeBillingEvents(ctx, provider, told)
    const isApplied = await applyEvents(ctx, 'billing', provider, keys)
    const checkout = told.find((event) => event.kind === 'checkout')
    const { outcome = null, agreementId = null } = checkout?.data ?? {}
    if (outcome === null || !isApplied) return { result: 'waiting' }
    return { result: outcome, isCardUpdate: agreementId !== id }
  } catch (error) {
    if (error instanceof Refused) return { result: 'unknown' }
    if (!(error instanceof Unavailable || error instanceof Throttled)) throw error
    ctx.log.warn({ err: error, provider }, 'the billing provider could not be asked')
    return { result: 'unanswered' }
  }
}
