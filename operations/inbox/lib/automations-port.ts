/** The automations' own way in for a message sent by hand: `automations.enterManually`. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'

export interface ManualEntry {
  automationId: string
  phone: string
  orderId?: string
  cartId?: string
  userId: string
}
/**
 * In the caller's transaction: a run and an execution with `origin: manual`, its unit reserved, its job queued. Refuses
 * what the quota does not allow.
 */
type EnterManually = (ctx: Context, entry: ManualEntry) => Promise<{ jobId: string; executionId: string }>

let registered: EnterManually | null = null
/** Called once at start. */
export const registerManualEntry = (enter: EnterManually): void => {
  registered = enter
}

export async function enterManually(
  ctx: Context,
  entry: ManualEntry,
): Promise<{ jobId: string; executionId: string }> {
  if (!registered) throw refuse('unavailable', 'This server runs no automations')
  return registered(ctx, entry)
}
