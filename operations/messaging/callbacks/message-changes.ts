/** Applies history, edits and deletions of messages, and address books. */
import { sql } from 'kysely'
import type { events } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { AddressBookData, HistoryData, MessageChangeData } from '../provider/inbound-hooks.ts'
import { toInboundMessages } from './apply.ts'
import { recordPeople } from './person-addresses.ts'

type StoredEvent = events.StoredEvent

/** Applies messages from before the number was connected, oldest first. */
export async function applyHistory(ctx: Context, stored: StoredEvent[]): Promise<void> {
  const inOrder = [...stored].sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  await recordPeople(ctx, inOrder)
  const messages = await toInboundMessages(ctx, inOrder)
  for (const [i, message] of messages.entries()) {
    const { direction } = inOrder[i]!.data as HistoryData
    for (const handler of ctx.extensions.earlier) await handler(ctx, message, direction)
  }
}

type Change = MessageChangeData['change']

/**
 * Finds the change that applies to each message, by the provider's message id. Callbacks arrive in any order: a deletion
 * is final, otherwise the latest edit wins.
 */
export async function findMessageChanges(ctx: Context, ids: readonly string[]): Promise<Map<string, Change>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: string; change: Change }>`
    select distinct on (payload->'data'->>'providerMessageId')
      payload->'data'->>'providerMessageId' as id, payload->'data'->'change' as change
    from provider_events
    where store_id = ${ctx.store.id}::uuid and port = 'messaging' and kind = 'message-change'
      and payload->'data'->>'providerMessageId' = any(${[...new Set(ids)]}::text[])
    order by payload->'data'->>'providerMessageId', payload->'data'->'change' = 'null'::jsonb desc,
      occurred_at desc, id desc`.execute(ctx.system)
  return new Map(rows.map(({ id, change }) => [id, change]))
}

/** Applies edits and deletions. Returns the ids of events whose message does not exist (yet). */
export async function applyMessageChanges(ctx: Context, stored: StoredEvent[]): Promise<readonly string[]> {
  const idOf = ({ data }: StoredEvent) => (data as MessageChangeData).providerMessageId
  const known = new Set<string>()
  for (const [providerMessageId, change] of await findMessageChanges(ctx, stored.map(idOf))) {
    for (const handler of ctx.extensions.messageChanges) {
      if (await handler(ctx, { providerMessageId, change })) known.add(providerMessageId)
    }
  }
  return stored.filter((event) => !known.has(idOf(event))).map(({ id }) => id)
}

export async function applyAddressBook(ctx: Context, stored: StoredEvent[]): Promise<void> {
  for (const { data } of stored) {
    for (const handler of ctx.extensions.addressBook) await handler(ctx, data as AddressBookData)
  }
}
