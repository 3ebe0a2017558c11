import type { Context } from '#runtime/context'

export interface Entitlement {
  status: string
  planId: string
  features: ReadonlySet<string>
  canWrite: boolean
}

/** Status, features and whether writes go, from the row and the clock; background senders ask it for each batch. */
export async function entitlementOf(_ctx: Context): Promise<Entitlement> {
  throw new Error('being written')
}
