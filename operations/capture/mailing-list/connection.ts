/** The email provider that a store is connected to. */
import { type Connected, connections, health } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { Finding } from '#runtime/ports/provider'
import type { MailingListPort } from './port.ts'

export interface ConnectedList extends Connected<MailingListPort> {
  /** The list chosen there. */
  listId: string | null
}

/** Null when none is connected. */
export async function mailingList(ctx: Context): Promise<ConnectedList | null> {
  const found = await connections.connected(ctx, 'mailingList')
  return found && { ...found, listId: (found.settings as { listId?: string } | null)?.listId ?? null }
}

/**
 * Connects the store to its email provider, replacing what was connected: the provider is asked for its lists with the
 * credentials, which are then sealed. `credentials.listId` chooses a list; without it an account's only one is chosen.
 * Called outside a transaction. Refuses an unknown provider, credentials it does not take, and a list it does not have.
 */
export async function connectMailingList(ctx: Context, provider: string, given: unknown): Promise<void> {
  const port = connections.namedAdapter(ctx, 'mailingList', provider)
  const { listId: chosen, ...credentials } = (given ?? {}) as { listId?: unknown }
  const lists = await connections.refusedAsBad(port.lists({ id: ctx.store.id, credentials }))
  const listId = chosen ?? (lists.length === 1 ? lists[0]!.id : null)
  if (listId !== null && !lists.some((list) => list.id === listId)) {
    const known = lists.map(({ id, name }) => `${id} (${name})`).join(', ')
    throw refuse('bad_request', `credentials.listId: the provider has no such list: ${known}`)
  }
  await ctx.transaction((tx) =>
    connections.keepConnection(tx, 'mailingList', provider, credentials, { listId }),
  )
}

/** How it is probed and checked (store, rule 19). */
export const mailingListKind: health.ConnectionKind = {
  name: () => 'your email provider',
  current: (tx) => connections.connectedSince(tx, 'mailingList'),
  async probe(ctx) {
    const connected = await mailingList(ctx)
    await connected?.port.lists(connected.store)
  },
  check: async (ctx) =>
    health.checkingOne(
      'mailingList',
      await mailingList(ctx),
      (adapter: MailingListPort & Checks, { store, listId }) =>
        adapter.check ? adapter.check(store, listId) : adapter.lists(store),
    ),
}

/** Adapters that say of themselves what is missing. */
interface Checks {
  check?(...asked: unknown[]): Promise<Finding[]>
}
