/** Health probes and configuration checks of the ecommerce platform and of the server's mail and storage (rule 19). */
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'
import type { EcommercePort } from '../ecommerce/port.ts'
import { checkConnection, runCheck } from '../health/checks.ts'
import type { ConnectionKind, ServerKind } from '../health/kinds.ts'
import { findEcommerce, readConnectedSince } from './connections.ts'

export const ecommerceKind: ConnectionKind = {
  name: () => 'your ecommerce platform',
  connectedAt: (tx) => readConnectedSince(tx, 'ecommerce'),
  async probe(ctx) {
    const connected = await findEcommerce(ctx)
    await connected?.port.check(connected.store)
  },
  check: async (ctx) =>
    checkConnection(
      'ecommerce',
      await findEcommerce(ctx),
      (adapter: EcommercePort & SelfChecking, { store, provider }) =>
        adapter.findings
          ? adapter.findings(store, `${ctx.settings.publicUrl}/hooks/ecommerce/${provider}/${ctx.store.id}`)
          : adapter.check(store),
    ),
}

/** Adapters that can diagnose their own setup. */
interface SelfChecking {
  findings?(store: ProviderStore, webhookUrl: string): Promise<Precondition[]>
}

/** A storage key that does not exist. */
const missingKey = 'connection-probe'

export const storageKind: ServerKind = {
  probe: ({ adapters }) => adapters.storage.head(missingKey),
  async check({ adapters, settings }) {
    const adapter = unwrapAdapter(adapters.storage)
    const findings = await runCheck(() => adapter.check())
    return [{ port: 'storage', part: '', provider: settings.storageUrl.split(':')[0]!, findings }]
  },
}

/** The probe uses `check`, because it is the only call that sends no mail. */
export const mailKind: ServerKind = {
  probe: ({ adapters }) => adapters.mail.check(),
  async check({ adapters, settings }) {
    const adapter = unwrapAdapter(adapters.mail)
    const findings = await runCheck(() => adapter.check())
    return [{ port: 'mail', part: '', provider: settings.mailUrl.split(':')[0]!, findings }]
  },
}
