/** The provider that bills a store. */
import { connections, health } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { unheard } from '#runtime/ports/heard'
import type { Finding } from '#runtime/ports/provider'
import type { BillingPort } from './port.ts'

/** The named one (an agreement stays with the provider it was made at), else that of the store's connection, else the server's own. */
export async function billing(
  ctx: Context,
  named?: string,
): Promise<{ port: BillingPort; provider: string }> {
  const provider = named ?? (await connections.connectedProvider(ctx, 'billing')) ?? serversProvider(ctx)
  return { port: connections.requireAdapter(ctx, 'billing', provider), provider }
}

const serversProvider = ({ settings }: Context): string => settings.billingUrl.split(':')[0]!

/** Nobody has an agreement of this name. */
const nobodys = 'connection-probe'

/** How it is probed and checked (store, rule 19). */
export const billingKind: health.ServerKind = {
  probe: ({ adapters }, provider) => health.answers(adapters.billing[provider]!.getAgreement(nobodys)),
  async check(ctx) {
    const { port, provider } = await billing(ctx)
    const adapter: BillingPort & Checks = unheard(port)
    const findings = await health.checking(() =>
      adapter.check ? adapter.check() : health.answers(adapter.getAgreement(nobodys)),
    )
    return [{ port: 'billing', part: '', provider, findings }]
  },
}

/** Adapters that say of themselves what is missing. */
interface Checks {
  check?(): Promise<Finding[]>
}
