/** How the platform and the server's mail and storage are probed and checked (rule 19). */
import { unheard } from '#runtime/ports/heard'
import type { Finding, ProviderStore } from '#runtime/ports/provider'
import type { EcommercePort } from '../ecommerce/port.ts'
import { checking, checkingOne } from '../health/checking.ts'
import type { ConnectionKind, ServerKind } from '../health/kinds.ts'
import { connectedSince, ecommerce } from './connections.ts'

export const ecommerceKind: ConnectionKind = {
  name: () => 'your ecommerce platform',
  current: (tx) => connectedSince(tx, 'ecommerce'),
  async probe(ctx) {
    const connected = await ecommerce(ctx)
    await connected?.port.check(connected.store)
  },
  check: async (ctx) =>
    checkingOne('ecommerce', await ecommerce(ctx), (adapter: EcommercePort & Finds, { store, provider }) =>
      adapter.findings
        ? adapter.findings(store, `${ctx.settings.publicUrl}/hooks/ecommerce/${provider}/${ctx.store.id}`)
        : adapter.check(store),
    ),
}

/** Adapters that say of themselves what is missing. */
interface Finds {
  findings?(store: ProviderStore, webhookUrl: string): Promise<Finding[]>
}

/** Nobody has a file of this name. */
const nobodys = 'connection-probe'

export const storageKind: ServerKind = {
  probe: ({ adapters }) => adapters.storage.head(nobodys),
  async check({ adapters, settings }) {
    const adapter = unheard(adapters.storage)
    const findings = await checking(() => adapter.check())
    return [{ port: 'storage', part: '', provider: settings.storageUrl.split(':')[0]!, findings }]
  },
}

/** Without sending a mail there is nothing else to ask. */
export const mailKind: ServerKind = {
  probe: ({ adapters }) => adapters.mail.check(),
  async check({ adapters, settings }) {
    const adapter = unheard(adapters.mail)
    const findings = await checking(() => adapter.check())
    return [{ port: 'mail', part: '', provider: settings.mailUrl.split(':')[0]!, findings }]
  },
}
