/** Connections of a store to its providers, credentials sealed. */
import type { Context } from '#runtime/context'
import type { EcommercePort } from '#runtime/ports/ecommerce/port'
import type { ProviderStore } from '#runtime/ports/provider'

export interface Connected<Port> {
  port: Port
  /** The store as the adapter takes it, credentials unsealed. */
  store: ProviderStore
}

/** The ecommerce platform of the store, or null when none is connected. */
export async function ecommerce(_ctx: Context): Promise<Connected<EcommercePort> | null> {
  throw new Error('being written')
}

/** The same, refused with `conflict` when none is connected. */
export async function requireEcommerce(_ctx: Context): Promise<Connected<EcommercePort>> {
  throw new Error('being written')
}
