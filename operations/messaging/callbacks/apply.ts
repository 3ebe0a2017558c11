/** Applies the provider's callbacks (rule 7). */

import { sql } from 'kysely'
import { type events, metering } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import { dayMs } from '#runtime/durations'
import { isId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import type { InboundData, StatusData } from '../provider/hook-body.ts'
import type { ConnectionType } from '../provider/port.ts'
import type { DeliveryStatus, InboundMessage } from '../sending/deliver.ts'
import { openSharedWindows } from '../sending/shared-text.ts'
import { recordPeople, resolveAddresses, resolveAddressesAcrossStores } from './person-addresses.ts'

type StoredEvent = events.StoredEvent

/** The ledger has no code of its own for an email that bounced. */
const toLedgerCode = (code: StatusData['failureCode']) =>
  code === 'recipient-refused' ? 'undelivered' : code

interface Located {
  eventId: string
  kind: string
  change: DeliveryStatus
}

/**
 * Passes status events to the senders of their messages and records them in the ledger. Returns the ids of events whose
 * message is unknown.
 */
export async function applyStatuses(ctx: Context, stored: StoredEvent[]): Promise<readonly string[]> {
  await recordPeople(ctx, stored)
  const located = await locate(ctx, stored)
  for (const [kind, changes] of groupByKind(located))
    await ctx.extensions.senders[kind]?.applyStatuses(ctx, changes)
  const changes = located.map(({ change }) => change)
  for (const handler of ctx.extensions.statuses) await handler(ctx, changes)
  await metering.recordStatus(
    ctx,
    located.flatMap(({ change: { messageId, status, at, failureCode } }) =>
      status === 'sent' ? [] : [{ messageId, status, at, failureCode: toLedgerCode(failureCode) }],
    ),
  )
  // Checked last, because a sender may just have added an indeterminate message to the ledger as sent.
  const known = await findKnown(
    ctx,
    located.map(({ change }) => change.messageId),
  )
  const placed = new Set(
    located.filter(({ change }) => known.has(change.messageId)).map((each) => each.eventId),
  )
  return stored.filter((event) => !placed.has(event.id)).map((event) => event.id)
}

/**
 * Finds the message of each event: by the idempotency key that the provider returned, otherwise by the provider's
 * message id in the ledger or at a sender.
 */
async function locate(ctx: Context, stored: StoredEvent[]): Promise<Located[]> {
  const keyless: string[] = []
  for (const { data } of stored) {
    const { key, providerMessageId } = data as StatusData
    if (!parseKey(key)) keyless.push(providerMessageId)
  }
  const found = await findByProviderId(ctx, keyless)
  return stored.flatMap((event) => {
    const { key, status, providerMessageId, failureCode, failureMessage } = event.data as StatusData
    const sender = parseKey(key) ?? found.get(providerMessageId)
    if (!sender) return []
    const { kind, messageId, attempt } = sender
    const at = event.occurredAt
    const change = { messageId, attempt, status, at, providerMessageId, failureCode, failureMessage }
    return [{ eventId: event.id, kind, change }]
  })
}

interface Sender {
  kind: string
  messageId: string
  attempt: number
}

/** Parses the idempotency key of a message; null if it is another key. */
export function parseKey(key: string | null): Sender | null {
  const [, kind, messageId, attempt] = /^([a-z]{2})_([0-9a-f-]{36})_(\d{1,6})$/.exec(key ?? '') ?? []
  if (!kind || !messageId || !isId(messageId)) return null
  return { kind, messageId, attempt: Number(attempt) }
}

async function findByProviderId(ctx: Context, ids: string[]): Promise<Map<string, Sender>> {
  if (ids.length === 0) return new Map()
  const rows = await ctx.db
    .selectFrom('message_ledger')
    .select(['message_id', 'source', 'provider_message_id'])
    .where(sql<boolean>`provider_message_id = any(${ids}::text[])`)
    .execute()
  const found = new Map<string, Sender>()
  const senders = listSenders(ctx)
  for (const [kind, { external }] of senders) {
    for (const [providerId, messageId] of (await external?.findByProviderIds(ctx, ids)) ?? []) {
      found.set(providerId, { kind, messageId, attempt: 1 })
    }
  }
  const kinds = new Map<string, string>(senders.map(([kind, { messageSource }]) => [messageSource, kind]))
  for (const { message_id: messageId, source, provider_message_id: providerId } of rows) {
    found.set(providerId!, { kind: kinds.get(source) ?? source, messageId, attempt: 1 })
  }
  return found
}

const listSenders = ({ extensions }: Context) =>
  Object.entries(extensions.senders).flatMap(([kind, sender]) => (sender ? [[kind, sender] as const] : []))

function groupByKind(located: readonly Located[]): Map<string, DeliveryStatus[]> {
  const kinds = new Map<string, DeliveryStatus[]>()
  for (const { kind, change } of located) {
    const changes = kinds.get(kind)
    if (changes) changes.push(change)
    else kinds.set(kind, [change])
  }
  return kinds
}

async function findKnown(ctx: Context, messageIds: string[]): Promise<Set<string>> {
  if (messageIds.length === 0) return new Set()
  const ids = [...new Set(messageIds)]
  const rows = await ctx.db
    .selectFrom('message_ledger')
    .select('message_id')
    .where(sql<boolean>`message_id = any(${ids}::uuid[])`)
    .execute()
  const known = new Set(rows.map((row) => row.message_id))
  const others = ids.filter((id) => !known.has(id))
  if (others.length === 0) return known
  for (const [, { external }] of listSenders(ctx)) {
    for (const id of (await external?.filterExisting(ctx, others)) ?? []) known.add(id)
  }
  return known
}

/** Applies inbound messages: opens the 24-hour window of the official number, then calls the extensions. */
export async function applyInbound(ctx: Context, stored: StoredEvent[]): Promise<void> {
  await recordPeople(ctx, stored)
  const messages = (await toInboundMessages(ctx, stored)).map((message) => ({
    message,
    isReaction: message.type === 'reaction',
  }))
  await openWindows(
    ctx,
    messages
      .filter((each) => each.message.via === 'official' && !each.isReaction)
      .map((each) => each.message),
  )
  await openSharedWindows(
    ctx,
    messages.flatMap(({ message, isReaction }, i) => {
      const { storeRef: numberId } = stored[i]!
      return message.via === 'shared' && !isReaction && numberId ? [{ numberId, ...message }] : []
    }),
  )
  for (const { message } of messages) {
    for (const handler of ctx.extensions.inbound) await handler(ctx, message)
  }
}

/** Applies messages that the merchant wrote in the provider's own app. */
export async function applyEchoes(ctx: Context, stored: StoredEvent[]): Promise<void> {
  for (const message of await toInboundMessages(ctx, stored)) {
    for (const handler of ctx.extensions.echoes) await handler(ctx, message)
  }
}

export async function toInboundMessages(
  ctx: Context,
  stored: readonly StoredEvent[],
): Promise<InboundMessage[]> {
  const via = await findConnectionsByNumber(ctx)
  const addresses = await resolveAddresses(ctx, stored)
  return stored.map((event, i) => {
    const { text, type, name, content, providerMessageId } = event.data as InboundData
    return {
      phone: addresses[i]!,
      text,
      name,
      type,
      content,
      at: event.occurredAt,
      providerMessageId,
      via: via.get(event.storeRef ?? '') ?? 'shared',
    }
  })
}

/**
 * Maps number ids to connection types. If two connections share a number (as in the sandbox), a connected official one
 * wins, then the selected one.
 */
async function findConnectionsByNumber(ctx: Context): Promise<Map<string, ConnectionType>> {
  const rows = await ctx.db
    .selectFrom('messaging_connections as c')
    .innerJoin('stores as s', (join) => join.onTrue())
    .select(['c.number_id', 'c.type'])
    .where('c.number_id', 'is not', null)
    .orderBy(sql`c.type = 'official' and c.status = 'connected'`)
    .orderBy(sql`c.status in ('connected', 'reconnecting')`)
    .orderBy(sql`c.type is not distinct from s.messaging_connection_type`)
    .execute()
  return new Map(rows.map((row) => [row.number_id!, row.type as ConnectionType]))
}

async function openWindows(ctx: Context, messages: readonly InboundMessage[]): Promise<void> {
  const latest = new Map<string, Date>()
  for (const { phone, at } of messages) {
    const key = phoneKey(phone)
    const known = latest.get(key)
    if (!known || known < at) latest.set(key, at)
  }
  if (latest.size === 0) return
  await ctx.db
    .insertInto('contact_windows')
    .values([...latest].map(([phone_key, last_inbound_at]) => ({ phone_key, last_inbound_at })))
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'phone_key']).doUpdateSet({
        last_inbound_at: greatest<Date>(
          sql.ref('contact_windows.last_inbound_at'),
          sql.ref('excluded.last_inbound_at'),
        ),
      }),
    )
    .execute()
}

/** Finds the stores of events about objects that one section owns, for example templates. */
export interface StoreResolver {
  isOf(ctx: SystemContext, event: StoredEvent): boolean
  /** Maps event ids to stores; null if the event belongs to no store. An event that is left out is retried for an hour. */
  find(ctx: SystemContext, events: readonly StoredEvent[]): Promise<ReadonlyMap<string, string | null>>
}

const sharedContactDays = 30

/**
 * Maps event ids to stores, for events that were stored without a store. The first matching resolver decides; without
 * one, the event is looked up by the number that several stores share.
 */
export async function findStores(
  ctx: SystemContext,
  stored: StoredEvent[],
): Promise<ReadonlyMap<string, string | null>> {
  const bySubject = Map.groupBy(stored, (event) =>
    ctx.extensions.subjects.find(({ isOf }) => isOf(ctx, event)),
  )
  const stores = new Map<string, string | null>()
  for (const [subject, events] of bySubject) {
    const found = subject ? subject.find(ctx, events) : findSharedNumberStores(ctx, events)
    for (const [id, store] of await found) stores.set(id, store)
  }
  return stores
}

/**
 * Maps event ids to stores, for events on a shared number. A status belongs to its message's store; an inbound message
 * belongs to the store that last wrote to the person within 30 days. Null if the number is not a shared one.
 */
async function findSharedNumberStores(
  ctx: SystemContext,
  stored: StoredEvent[],
): Promise<ReadonlyMap<string, string | null>> {
  if (stored.length === 0) return new Map()
  const shared = await findSharedNumbers(
    ctx,
    stored.map((event) => event.storeRef ?? ''),
  )
  const stores = new Map<string, string | null>()
  const addresses = await resolveAddressesAcrossStores(ctx, stored)
  const given = stored.flatMap(({ id, storeRef, data }, i) => {
    if (!shared.has(storeRef ?? '')) {
      stores.set(id, null)
      return []
    }
    const { key } = data as Partial<StatusData>
    const phone = addresses[i]
    const messageId = parseKey(key ?? null)?.messageId ?? null
    return [{ id, ref: storeRef, message_id: messageId, phone_key: phone ? phoneKey(phone) : null }]
  })
  const since = new Date(ctx.now().getTime() - sharedContactDays * dayMs)
  const { rows } = await sql<{ id: string; store_id: string }>`
    with e as (
      select * from json_to_recordset(${JSON.stringify(given)}::json)
        as e(id uuid, ref text, message_id uuid, phone_key text))
    select e.id, l.store_id
    from e
    join messaging_connections c on c.number_id = e.ref and c.type = 'shared'
    join message_ledger l on l.store_id = c.store_id and l.message_id = e.message_id
    union all
    (select distinct on (e.id) e.id, l.store_id
    from e
    join messaging_connections c on c.number_id = e.ref and c.type = 'shared'
    join message_ledger l on l.store_id = c.store_id and l.phone_key = e.phone_key
      and l.sent_at > ${since}::timestamptz
    where e.message_id is null and e.phone_key is not null
    order by e.id, l.sent_at desc)`.execute(ctx.root)
  for (const row of rows) stores.set(row.id, row.store_id)
  return stores
}

async function findSharedNumbers(ctx: SystemContext, numberIds: string[]): Promise<Set<string>> {
  const rows = await ctx.root
    .selectFrom('messaging_connections')
    .select('number_id')
    .distinct()
    .where('type', '=', 'shared')
    .where(sql<boolean>`number_id = any(${[...new Set(numberIds)]}::text[])`)
    .execute()
  return new Set(rows.flatMap((row) => row.number_id ?? []))
}
