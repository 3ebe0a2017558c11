/** How the platform, the email provider and the server's own providers are probed and checked (rule 19). */
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { type PortName, unheard } from '#runtime/ports/heard'
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

async function checkOne<Port extends object>(
  port: PortName,
  connected: Connected<Port> | null,
  cheapest: (port: Port, connected: Connected<Port>) => Promise<unknown>,
): Promise<Checked[]> {
  if (!connected) return [{ port, part: '', provider: null, findings: [] }]
  const { provider, store } = connected
  const adapter = unheard(connected.port)
  return [
    {
      ...{ port, part: '', provider },
      findings: await checking(adapter, store, () => cheapest(adapter, connected)),
    },
  ]
}

export const ecommerceKind: ConnectionKind = {
  name: () => 'your ecommerce platform',
  current: (tx) => current(tx, 'ecommerce'),
  async probe(ctx) {
    const connected = await ecommerce(ctx)
    await connected?.port.check(connected.store)
  },
  check: async (ctx) => checkOne('ecommerce', await ecommerce(ctx), (port, { store }) => port.check(store)),
}

export const mailingListKind: ConnectionKind = {
  name: () => 'your email provider',
  current: (tx) => current(tx, 'mailingList'),
  async probe(ctx) {
    const connected = await mailingList(ctx)
    await connected?.port.lists(connected.store)
  },
  check: async (ctx) =>
    checkOne('mailingList', await mailingList(ctx), (port, { store }) => port.lists(store)),
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
    const findings = await checking(adapter, null, () => answers(adapter.getAgreement(nobodys)))
    return [{ port: 'billing', part: '', provider, findings }]
  },
}

export const storageKind: ServerKind = {
  probe: ({ adapters }) => adapters.storage.head(nobodys),
  async check({ adapters, settings }) {
    const adapter = unheard(adapters.storage)
    const findings = await checking(adapter, null, () => adapter.head(nobodys))
    return [{ port: 'storage', part: '', provider: settings.storageUrl.split(':')[0]!, findings }]
  },
}

/** Without a mail there is nothing that could be asked of every provider: where its adapter has no `check`, the next mail shows it. */
export const mailKind: ServerKind = {
  async probe({ adapters }) {
    const { check } = adapters.mail as { check?(): Promise<unknown> }
    await check?.()
  },
  async check({ adapters, settings }) {
    const adapter = unheard(adapters.mail)
    const findings = await checking(adapter, null, null)
    return [{ port: 'mail', part: '', provider: settings.mailUrl.split(':')[0]!, findings }]
  },
}
