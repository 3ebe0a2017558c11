/** The one door of a billing provider's callbacks: real ones, the sandbox's, and what the return page was told. */
import { applyEvents, events } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { isId } from '#runtime/values/ids'
import type { BillingEvent, BillingPort } from '../provider/port.ts'
import { sandboxBillingOf } from '../provider/sandbox.ts'

/** The adapter of a provider named in an address, or null. */
export const billingPortOf = (ctx: SystemContext, provider: string): BillingPort | null =>
  Object.hasOwn(ctx.adapters.billing, provider) ? ctx.adapters.billing[provider]! : null

/**
 * Stores what a signed body tells; answers the keys of its events. Refuses an unknown provider (404), a wrong signature
 * (401) and a body of another form (400): nothing is stored then.
 */
export async function receiveBillingHook(
  ctx: SystemContext,
  provider: string,
  headers: Headers,
  body: Uint8Array,
): Promise<string[]> {
  const port = billingPortOf(ctx, provider)
  if (!port) throw refuse('not_found', 'No such provider')
  let told: BillingEvent[]
  try {
    told = await port.parseWebhook(headers, body)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const isUnsigned = error.code === 'bad-signature'
    throw refuse(
      isUnsigned ? 'unauthorized' : 'bad_request',
      isUnsigned ? error.message : `body: ${error.message}`,
    )
  }
  return storeBillingEvents(ctx, provider, told)
}

/** Stores events, each once; answers their keys. */
export async function storeBillingEvents(
  ctx: SystemContext,
  provider: string,
  told: readonly BillingEvent[],
): Promise<string[]> {
  const incoming = told.map((event) => ({
    ...event,
    storeId: event.storeRef !== null && isId(event.storeRef) ? event.storeRef : null,
  }))
  await events.accept(ctx, 'billing', provider, incoming)
  return incoming.map((event) => event.key)
}

/** Delivers what the sandbox has to tell, of one store alone where it is named, and applies it at once. */
export async function deliverSandboxHooks(ctx: SystemContext, storeId?: string): Promise<void> {
  for await (const { headers, body } of sandboxBillingOf(ctx.adapters.billing).undelivered(storeId)) {
    const keys = await receiveBillingHook(ctx, 'sandbox', headers, body)
    await applyEvents(ctx, 'billing', 'sandbox', keys)
  }
}
