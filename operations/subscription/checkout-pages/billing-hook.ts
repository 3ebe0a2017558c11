/** Receives billing events from webhooks, from the sandbox and from the return page. */
import { applyEvents, events } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { isId } from '#runtime/values/ids'
import type { BillingEvent, BillingPort } from '../provider/port.ts'
import { getSandboxBilling } from '../provider/sandbox.ts'

/** The adapter of a provider named in a URL, or null. */
export const findBillingPort = (ctx: SystemContext, provider: string): BillingPort | null =>
  Object.hasOwn(ctx.adapters.billing, provider) ? ctx.adapters.billing[provider]! : null

/**
 * Stores the events of a signed webhook body and returns their keys. Refuses an unknown provider (404), a wrong signature
 * (401) and a malformed body (400), and stores nothing in these cases.
 */
export async function receiveBillingHook(
  ctx: SystemContext,
  provider: string,
  headers: Headers,
  body: Uint8Array,
): Promise<string[]> {
  const port = findBillingPort(ctx, provider)
  if (!port) throw refuse('not_found', 'No such provider')
  let received: BillingEvent[]
  try {
    received = await port.parseWebhook(headers, body)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const isUnsigned = error.code === 'bad-signature'
    throw refuse(
      isUnsigned ? 'unauthorized' : 'bad_request',
      isUnsigned ? error.message : `body: ${error.message}`,
    )
  }
  return storeBillingEvents(ctx, provider, received)
}

/** Stores each event once and returns the keys. */
export async function storeBillingEvents(
  ctx: SystemContext,
  provider: string,
  received: readonly BillingEvent[],
): Promise<string[]> {
  const incoming = received.map((event) => ({
    ...event,
    storeId: event.storeRef !== null && isId(event.storeRef) ? event.storeRef : null,
  }))
  await events.accept(ctx, 'billing', provider, incoming)
  return incoming.map((event) => event.key)
}

/** Delivers the sandbox's pending webhooks, of all stores or of one store, and applies their events at once. */
export async function deliverSandboxHooks(ctx: SystemContext, storeId?: string): Promise<void> {
  for await (const { headers, body } of getSandboxBilling(ctx.adapters.billing).undelivered(storeId)) {
    const keys = await receiveBillingHook(ctx, 'sandbox', headers, body)
    await applyEvents(ctx, 'billing', 'sandbox', keys)
  }
}
