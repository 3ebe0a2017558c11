/** The provider that bills a store. */
import { connections, health } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import type { Precondition } from '#runtime/ports/provider'
import type { BillingPort } from './port.ts'

/**
 * The named provider (an agreement stays with the provider it was made at), else that of the store's connection, else the
 * server's default.
 */
export async function getBilling(
  ctx: Context,
  named?: string,
): Promise<{ port: BillingPort; provider: string }> {
  const provider = named ?? (await connections.findProvider(ctx, 'billing')) ?? getDefaultProvider(ctx)
  return { port: connections.requireAdapter(ctx, 'billing', provider), provider }
}

const getDefaultProvider = ({ settings }: Context): string => settings.billingUrl.split(':')[0]!

/** An id that no agreement has. */
const probeAgreementId = 'connection-probe'

/** Probe and check of the billing provider (store, rule 19). */
export const billingKind: health.ServerKind = {
  probe: ({ adapters }, provider) =>
    health.expectAnswer(adapters.billing[provider]!.getAgreement(probeAgreementId)),
  async check(ctx) {
    const { port, provider } = await getBilling(ctx)
    const adapter: BillingPort & Checks = unwrapAdapter(port)
    const findings = await health.runCheck(() =>
      adapter.check ? adapter.check() : health.expectAnswer(adapter.getAgreement(probeAgreementId)),
    )
    return [{ port: 'billing', part: '', provider, findings }]
  },
}

/** Adapters with a check of their own. */
interface Checks {
  check?(): Promise<Precondition[]>
}
