/** How the platform, the email provider and the server's own providers are probed and checked (rule 19). */
import type { Context } from '#runtime/context'
import type { EcommercePort } from '#runtime/ports/ecommerce/port'
import { Refused } from '#runtime/ports/errors'
import { type PortName, unheard } from '#runtime/ports/heard'
import type { MailingListPort } from '#runtime/ports/mailing-list/port'
import type { Finding, ProviderStore } from '#runtime/ports/provider'
import { checking } from '../health/checking.ts'
import type { Checked, ConnectionKind, ServerKind } from '../health/kinds.ts'
import { billing, type Connected, ecommerce, mailingList } from './connections.ts'

const current = async (tx: Context, port: 'ecommerce' | 'mailingList'): Promise<Date | null | undefined> => {
  const row = await tx.db
    .selectFrom('connections')
    .select('connected_at')
    .where('port', '=', port)
    .executeTakeFirst()
  return row?.connected_at ?? undefined
}

async function checkOne<Port extends object, C extends Connected<Port>>(
  port: PortName,
  connected: C | null,
  asked: (adapter: Port, connected: C) => Promise<unknown>,
): Promise<Checked[]> {
  if (!connected) return [{ port, part: '', provider: null, findings: [] }]
  const { provider } = connected
  const adapter = unheard(connected.port)
  return [{ port, part: '', provider, findings: await checking(() => asked(adapter, connected)) }]
}

export const ecommerceKind: ConnectionKind = {
  name: () => 'your ecommerce platform',
  current: (tx) => current(tx, 'ecommerce'),
  async probe(ctx) {
    const connected = await ecommerce(ctx)
    await connected?.port.check(connected.store)
  },
  check: async (ctx) =>
    checkOne('ecommerce', await ecommerce(ctx), (adapter: EcommercePort & Finds, { store, provider }) =>
      adapter.findings
        ? adapter.findings(store, `${ctx.settings.publicUrl}/hooks/ecommerce/${provider}/${ctx.store.id}`)
        : adapter.check(store),
    ),
}

export const mailingListKind: ConnectionKind = {
  name: () => 'your email provider',
  current: (tx) => current(tx, 'mailingList'),
  async probe(ctx) {
    const connected = await mailingList(ctx)
    await connected?.port.lists(connected.store)
  },
  check: async (ctx) =>
    checkOne('mailingList', await mailingList(ctx), (adapter: MailingListPort & Checks, { store, listId }) =>
      adapter.check ? adapter.check(store, listId) : adapter.lists(store),
    ),
}

/** Adapters that say of themselves what is missing. */
interface Finds {
  findings?(store: ProviderStore, webhookUrl: string): Promise<Finding[]>
}
interface Checks {
  check?(...asked: unknown[]): Promise<Finding[]>
}

/** Nobody has an agreement or a file of this name: a provider that says so was asked, and takes our access. */
const nobodys = 'connection-probe'

const answers = async (asked: Promise<unknown>): Promise<void> => {
  try {
    await asked
  } catch (error) {
    if (!(error instanceof Refused)) throw error
  }
}

export const billingKind: ServerKind = {
  probe: ({ adapters }, provider) => answers(adapters.billing[provider]!.getAgreement(nobodys)),
  async check(ctx) {
    const { port, provider } = await billing(ctx)
    const adapter = unheard(port)
    const { check } = adapter as Checks
    const findings = await checking(() => check?.call(adapter) ?? answers(adapter.getAgreement(nobodys)))
    return [{ port: 'billing', part: '', provider, findings }]
  },
}

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
