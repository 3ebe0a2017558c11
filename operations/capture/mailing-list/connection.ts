/** A store's connection to its email provider. */
import { type Connected, connections, health } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { Precondition } from '#runtime/ports/provider'
import type { MailingListPort } from './port.ts'

export interface ConnectedList extends Connected<MailingListPort> {
  /** The chosen list. */
  listId: string | null
}

/** The store's connected email provider, or null. */
export async function mailingList(ctx: Context): Promise<ConnectedList | null> {
  const found = await connections.findConnection(ctx, 'mailingList')
  return found && { ...found, listId: (found.settings as { listId?: string } | null)?.listId ?? null }
}

/**
 * Connects the store to its email provider, replacing the current connection. The credentials are tested by reading the
 * account's lists, then stored encrypted. `given.listId` chooses a list; without it, a list is chosen only if the
 * account has exactly one. Refuses an unknown provider, invalid credentials and an unknown list. Not inside a
 * transaction.
 */
export async function connectMailingList(ctx: Context, provider: string, given: unknown): Promise<void> {
  const port = connections.requireNamedAdapter(ctx, 'mailingList', provider)
  const { listId: chosen, ...credentials } = (given ?? {}) as { listId?: unknown }
  const lists = await connections.refusedAsBadCredentials(port.lists({ id: ctx.store.id, credentials }))
  const listId = chosen ?? (lists.length === 1 ? lists[0]!.id : null)
  if (listId !== null && !lists.some((list) => list.id === listId)) {
    const known = lists.map(({ id, name }) => `${id} (${name})`).join(', ')
    throw refuse('bad_request', `credentials.listId: the provider has no such list: ${known}`)
  }
  await ctx.transaction((tx) =>
    connections.saveConnection(tx, 'mailingList', provider, credentials, { listId }),
  )
}

/** How the health of the connection is probed and checked (store, rule 19). */
export const mailingListKind: health.ConnectionKind = {
  name: () => 'your email provider',
  connectedAt: (tx) => connections.readConnectedSince(tx, 'mailingList'),
  async probe(ctx) {
    const connected = await mailingList(ctx)
    await connected?.port.lists(connected.store)
  },
  check: async (ctx) =>
    health.checkConnection(
      'mailingList',
      await mailingList(ctx),
      (adapter: MailingListPort & Checks, { store, listId }) =>
        adapter.check ? adapter.check(store, listId) : adapter.lists(store),
    ),
}

/** An adapter that can report what is missing in the account. */
interface Checks {
  check?(...asked: unknown[]): Promise<Precondition[]>
}
