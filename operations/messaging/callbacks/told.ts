/** What a provider tells of messages besides new ones: those from before, changes of them, and whom they are from. */
import { sql } from 'kysely'
import type { events } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { AddressBookData, HistoryData, MessageChangeData } from '../provider/inbound-hooks.ts'
import { messagesOf } from './apply.ts'
import { notePeople } from './people.ts'

type StoredEvent = events.StoredEvent

/** Messages from before the number was connected, oldest first. */
export async function applyHistory(ctx: Context, stored: StoredEvent[]): Promise<void> {
  const inOrder = [...stored].sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  await notePeople(ctx, inOrder)
  const messages = await messagesOf(ctx, inOrder)
  for (const [i, message] of messages.entries()) {
    const { direction } = inOrder[i]!.data as HistoryData
    for (const told of ctx.wired.earlier) await told(ctx, message, direction)
  }
}

type Change = MessageChangeData['change']

/**
 * What became of these messages, by the provider's id: callbacks come in any order, and while nobody looks. Who took one
 * back wants it gone for good; else the latest change holds.
 */
export async function changesOf(ctx: Context, ids: readonly string[]): Promise<Map<string, Change>> {
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

/** Answers the changes of messages that are not there (yet). */
export async function applyMessageChanges(ctx: Context, stored: StoredEvent[]): Promise<readonly string[]> {
  const idOf = ({ data }: StoredEvent) => (data as MessageChangeData).providerMessageId
  const known = new Set<string>()
  for (const [providerMessageId, change] of await changesOf(ctx, stored.map(idOf))) {
    for (const told of ctx.wired.messageChanges) {
      if (await told(ctx, { providerMessageId, change })) known.add(providerMessageId)
    }
  }
  return stored.filter((event) => !known.has(idOf(event))).map(({ id }) => id)
}

export async function applyAddressBook(ctx: Context, stored: StoredEvent[]): Promise<void> {
  for (const { data } of stored) {
    for (const told of ctx.wired.addressBook) await told(ctx, data as AddressBookData)
  }
}
