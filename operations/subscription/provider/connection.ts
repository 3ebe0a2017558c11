/** Finds the provider that bills a store, and checks its connection. */
import { connections, health } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import type { Precondition } from '#runtime/ports/provider'
import type { BillingPort } from './port.ts'

/**
 * Returns the named provider, else the provider of the store's connection, else the server's default. Name the provider of
 * an existing agreement: the agreement stays there when the store changes providers.
 */
export async function getBilling(
  ctx: Context,
  named?: string,
): Promise<{ port: BillingPort; provider: string }> {
  const provider = named ?? (await connections.findProvider(ctx, 'billing')) ?? getDefaultProvider(ctx)
  return { port: connections.requireAdapter(ctx, 'billing', provider), provider }
}

const getDefaultProvider = ({ settings }: Context): string => settings.billingUrl.split(':')[0]!

/** An id that no agreement has: a `not-found` from the provider proves that it is reachable. */
const probeAgreementId = 'connection-probe'

/** Health probe and configuration check of the billing provider (rule 19 of the store section). */
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

/** An adapter that may have its own check. */
interface Checks {
  check?(): Promise<Precondition[]>
}
