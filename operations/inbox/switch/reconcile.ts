/** Reconciles the inbox: stores messages that it missed while it was off or disconnected (rule 9). */

import { sql } from 'kysely'
import type { HistoryData, InboundData, StatusData } from '#operations/messaging/index'
import {
  findMessageChanges,
  findRouteByType,
  resolveAddresses,
  type sending,
} from '#operations/messaging/index'
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuseTemporarily } from '#runtime/errors'
import type { ProviderEvent } from '#runtime/ports/provider'
import { findConversationsByPhone } from '../conversations/contacts.ts'
import { storeEcho } from '../receiving/echo.ts'
import { storeHistoryMessage } from '../receiving/history.ts'
import { changeMessage } from '../receiving/message-changes.ts'
import { storeInbound } from '../receiving/receive.ts'
import { applyCallback } from '../sending/outbox-source.ts'
import { requireInbox } from '../state.ts'
import { waitingSinceIfOpen } from '../waiting.ts'
import { beginRun, lockRun, type RunRow, startRun, writeRun } from './runs.ts'

const storedAtOnce = 200

export async function startReconcile(ctx: Context, days: number) {
  await requireInbox(ctx)
  const queued = await startRun(ctx, 'reconcile', { days, isRequested: true })
  if (!queued)
    throw refuseTemporarily('conflict', 'Messages are being looked for already: wait until that is done')
  return queued
}

interface Page {
  events: ProviderEvent[]
  /** The position after this page: `stored:<event>` or `history:<cursor>`; null after the last page. */
  next: string | null
  hasHistory: boolean
}

/**
 * Replays the stored callbacks, then the provider's history, in pages. A page and its position are saved in one
 * transaction.
 */
export async function reconcile(ctx: Context, signal: AbortSignal): Promise<void> {
  let run = await beginRun(ctx, 'reconcile')
  if (!run) return
  const route = await findRouteByType(ctx, 'official')
  const numberId = route?.isConnected ? route.connection.numberId : null
  for (;;) {
    signal.throwIfAborted()
    const page: Page =
      numberId === null ? { events: [], next: null, hasHistory: false } : await nextPage(ctx, run, numberId)
    const next = await ctx.transaction(async (tx) => {
      const added = await replay(tx, page.events, numberId)
      const locked = await lockRun(tx, 'reconcile')
      const counted = {
        walked_to: page.next,
        processed: locked.processed + page.events.length,
        changed: locked.changed + added,
      }
      await writeRun(tx, 'reconcile', counted)
      if (page.next === null) await finish(tx, counted, page.hasHistory)
      return { ...locked, ...counted }
    })
    if (page.next === null) return
    run = next
  }
}

async function nextPage(ctx: Context, run: RunRow, numberId: string): Promise<Page> {
  const since = new Date((run.started_at ?? ctx.now()).getTime() - (run.days ?? 30) * dayMs)
  const at = run.walked_to ?? 'stored:'
  if (at.startsWith('stored:')) return storedPage(ctx, since, numberId, at.slice('stored:'.length))
  const route = await findRouteByType(ctx, 'official')
  if (!route) return { events: [], next: null, hasHistory: false }
  const cursor = at.slice('history:'.length)
  const page = await route.port.history(route.store, { since, ...(cursor ? { cursor } : {}) })
  return {
    events: page.events,
    next: page.next === null ? null : `history:${page.next}`,
    hasHistory: page.supported,
  }
}

async function storedPage(ctx: Context, since: Date, numberId: string, after: string): Promise<Page> {
  const { rows } = await sql<{
    id: string
    key: string
    kind: string
    occurred_at: Date
    payload: { storeRef: string | null; data: unknown }
  }>`select id, key, kind, occurred_at, payload from provider_events
     where store_id = ${ctx.store.id}::uuid and port = 'messaging' and kind in ('inbound', 'echo', 'history')
       and occurred_at >= ${since}::timestamptz and payload->>'storeRef' = ${numberId}::text
       and (${after}::text = '' or (occurred_at, id) > (
         select e.occurred_at, e.id from provider_events e where e.id = nullif(${after}::text, '')::uuid))
     order by occurred_at, id limit ${storedAtOnce}`.execute(ctx.system)
  const events = rows.map((row) => ({
    key: row.key,
    kind: row.kind,
    occurredAt: row.occurred_at.toISOString(),
    storeRef: row.payload.storeRef,
    data: row.payload.data,
  }))
  const next = rows.length === storedAtOnce ? `stored:${rows.at(-1)!.id}` : 'history:'
  return { events, next, hasHistory: false }
}

/** Stores the messages of a page that are missing. Returns how many there were. */
async function replay(
  tx: Context,
  events: readonly ProviderEvent[],
  numberId: string | null,
): Promise<number> {
  const touched = new Set<string>()
  const added: string[] = []
  const written = events.filter(
    ({ storeRef, kind }) => storeRef === numberId && ['inbound', 'echo', 'history'].includes(kind),
  )
  const addresses = await resolveAddresses(tx, written)
  for (const [i, event] of written.entries()) {
    const phone = addresses[i]!
    const at = new Date(event.occurredAt)
    const known = [...(await findConversationsByPhone(tx, [phone])).values()][0]
    const answeredAt = known ? await lastOutboundAt(tx, known.conversationId) : null
    const message: sending.InboundMessage = { ...(event.data as InboundData), phone, at, via: 'official' }
    const isNew =
      event.kind === 'history'
        ? await storeHistoryMessage(tx, message, (event.data as HistoryData).direction)
        : event.kind === 'echo'
          ? await storeEcho(tx, message)
          : await storeInbound(tx, message, {
              isUnread: at.getTime() > tx.clock.ms() - dayMs && (answeredAt === null || at > answeredAt),
              mayReopen: (closedAt) => at > closedAt,
            })
    if (!isNew) continue
    added.push(message.providerMessageId)
    for (const { conversationId } of (await findConversationsByPhone(tx, [phone])).values()) {
      touched.add(conversationId)
    }
  }
  for (const [providerMessageId, change] of await findMessageChanges(tx, added)) {
    await changeMessage(tx, { providerMessageId, change })
  }
  await applyCallback(tx, await parseStatuses(tx, events))
  if (touched.size > 0) await recount(tx, [...touched])
  return added.length
}

async function lastOutboundAt(tx: Context, conversationId: string): Promise<Date | null> {
  const row = await tx.db
    .selectFrom('inbox_messages')
    .select('occurred_at')
    .where('conversation_id', '=', conversationId)
    .where('direction', '=', 'outbound')
    .orderBy('occurred_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.occurred_at ?? null
}

async function parseStatuses(
  tx: Context,
  events: readonly ProviderEvent[],
): Promise<sending.DeliveryStatus[]> {
  const statusEvents = events.filter((event) => event.kind === 'status')
  if (statusEvents.length === 0) return []
  const ids = statusEvents.map((event) => (event.data as StatusData).providerMessageId)
  const rows = await tx.db
    .selectFrom('inbox_messages')
    .select(['id', 'provider_message_id'])
    .where(sql<boolean>`provider_message_id = any(${ids}::text[])`)
    .execute()
  const known = new Map(rows.map((row) => [row.provider_message_id, row.id]))
  return statusEvents.flatMap((event) => {
    const { providerMessageId, status, failureCode, failureMessage } = event.data as StatusData
    const messageId = known.get(providerMessageId)
    const at = new Date(event.occurredAt)
    return messageId
      ? [
          {
            messageId,
            attempt: 1,
            status,
            at,
            providerMessageId,
            failureCode,
            failureMessage,
          },
        ]
      : []
  })
}

/** Recomputes the counters of conversations to which messages were added. */
async function recount(tx: Context, conversationIds: string[]): Promise<void> {
  const messages = tx.db
    .selectFrom('inbox_messages as m')
    .where('m.conversation_id', '=', sql.ref<string>('conversations.id'))
  await tx.db
    .updateTable('conversations')
    .set({
      message_count: sql<number>`(${messages.select((eb) => eb.fn.countAll().as('n'))})`,
      waiting_since: waitingSinceIfOpen(tx.db),
      updated_at: tx.now(),
    })
    .where(sql<boolean>`id = any(${conversationIds}::uuid[])`)
    .execute()
}

async function finish(tx: Context, run: { changed: number }, hasHistory: boolean): Promise<void> {
  await writeRun(tx, 'reconcile', { status: 'idle', finished_at: tx.now(), walked_to: null })
  const found = run.changed === 1 ? '1 message was' : `${run.changed} messages were`
  const limits = hasHistory
    ? ''
    : ' The provider keeps no history: only messages that had already been delivered to us could be checked.'
  await notify(tx, {
    type: 'inbox-reconcile-finished',
    level: 'info',
    title: 'The inbox is complete',
    message: `${found} missing and put in place.${limits}`,
    data: { messages: run.changed },
    dedupeKey: null,
  })
}
