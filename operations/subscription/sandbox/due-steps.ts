/**
 * Simulates the scheduled charges of the sandbox's billing provider; the job `sandbox-billing-tick` runs it. If the
 * sandbox's clock jumps past several charges, each one runs at its own due time, after a reconciliation at that time, so
 * that its amount is correct.
 */
import { SystemContext } from '#runtime/context'
import { reconcile } from '../billing/reconcile.ts'
import { deliverSandboxHooks } from '../checkout-pages/billing-hook.ts'
import { getSandboxBilling } from '../provider/sandbox.ts'
import { lockRow } from '../rows.ts'

/** Runs the due charges and retries of every store in their order, then reconciles those stores with the present. */
export async function runDueSteps(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  const moved = new Set<string>()
  await deliverSandboxHooks(ctx)
  for (;;) {
    const due = await getSandboxBilling(ctx.adapters.billing).listDueStores()
    let made = 0
    for (const { storeId, at } of due) {
      signal.throwIfAborted()
      moved.add(storeId)
      const past = contextAt(ctx, at)
      await reconcileStore(past, storeId)
      made += await getSandboxBilling(past.adapters.billing).runDue(storeId)
      await deliverSandboxHooks(past, storeId)
    }
    if (made === 0) break
  }
  for (const storeId of moved) await reconcileStore(ctx, storeId)
}

/** The same context with our clock and the provider's clock set back. */
function contextAt(ctx: SystemContext, at: Date): SystemContext {
  const { adapters, clock } = ctx.services
  const clockThen = {
    now: () => at,
    ms: () => at.getTime(),
    offset: clock.offset - (clock.ms() - at.getTime()),
  }
  const billing = { ...adapters.billing, sandbox: getSandboxBilling(adapters.billing).at(clockThen) }
  const services = { ...ctx.services, clock: clockThen, adapters: { ...adapters, billing } }
  return new SystemContext(services, ctx.log, ctx.requestId, { root: ctx.root })
}

/** Writes the due changes of the subscription, and sends them to the provider. If this fails, the charge still runs. */
async function reconcileStore(ctx: SystemContext, storeId: string): Promise<void> {
  const store = await ctx.forStore(storeId)
  if (!store) return
  try {
    await store.transaction(lockRow)
    await reconcile(store)
  } catch (error) {
    store.log.warn({ err: error }, 'reconciliation before a charge of the sandbox failed')
  }
}
