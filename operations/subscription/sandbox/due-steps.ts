/**
 * The time-based work of the sandbox's billing provider. A jump of the clock may pass over several charges; each one is
 * made at its own time, after our reconciliation as of then, so that it has the amount that was due.
 */
import { SystemContext } from '#runtime/context'
import { reconcile } from '../billing/reconcile.ts'
import { deliverSandboxHooks } from '../checkout-pages/billing-hook.ts'
import { getSandboxBilling } from '../provider/sandbox.ts'
import { lockRow } from '../rows.ts'

/** Makes the first due step of every store. Returns how many it made; more may be due. */
export async function runDueSteps(ctx: SystemContext): Promise<number> {
  await deliverSandboxHooks(ctx)
  let made = 0
  for (const { storeId, at } of await getSandboxBilling(ctx.adapters.billing).listDueStores()) {
    const then = contextAt(ctx, at)
    await reconcileStore(then, storeId)
    made += await getSandboxBilling(then.adapters.billing).runDue(storeId)
    await deliverSandboxHooks(then, storeId)
  }
  return made
}

/** The same context at an earlier time, for the product and the provider alike. */
function contextAt(ctx: SystemContext, at: Date): SystemContext {
  const { adapters, clock } = ctx.services
  const past = { now: () => at, ms: () => at.getTime(), offset: clock.offset - (clock.ms() - at.getTime()) }
  const billing = { ...adapters.billing, sandbox: getSandboxBilling(adapters.billing).at(past) }
  const services = { ...ctx.services, clock: past, adapters: { ...adapters, billing } }
  return new SystemContext(services, ctx.log, ctx.requestId, { root: ctx.root })
}

/** Writes the transitions that are due, and makes the provider know them. It charges all the same if that fails. */
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
