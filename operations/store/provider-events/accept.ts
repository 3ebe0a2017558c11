/** The inbox of provider events: each event is stored once, and the job `provider-event-apply` applies it. */

import { sql } from 'kysely'
import type { Context, SystemContext } from '#runtime/context'
import type { ProviderEvent } from '#runtime/ports/provider'
import { newId, sha256 } from '#runtime/values/ids'
import { isPlausible, sanitize, sanitizeText } from '#runtime/values/sanitize'
import { truncate } from '#runtime/values/truncate'
import { providerEventApply } from '../handles.ts'

export interface IncomingEvent extends ProviderEvent {
  /** The event's store; null if a `StoreResolver` has to find it when the event is applied. */
  storeId: string | null
}

/**
 * Stores events and queues their job, in one transaction. Skips events that are stored already. Removes characters that
 * PostgreSQL cannot store and replaces an implausible time by the current time, so that one bad event does not fail the
 * others.
 */
export async function accept(
  ctx: SystemContext,
  port: string,
  provider: string,
  events: IncomingEvent[],
): Promise<void> {
  if (events.length === 0) return
  const now = ctx.now()
  const rows = events.map((event) => ({
    id: newId(now.getTime()),
    store_id: event.storeId,
    key: boundedKey(sanitizeText(event.key)),
    kind: truncate(sanitizeText(event.kind), maxKindLength),
    payload: sanitize({ storeRef: event.storeRef, data: event.data }),
    occurred_at: isPlausible(Date.parse(event.occurredAt)) ? new Date(event.occurredAt) : now,
  }))
  const given = sql<{
    id: string
    store_id: string | null
    key: string
    kind: string
    payload: string
    occurred_at: Date
  }>`json_to_recordset(${JSON.stringify(rows)}::json)`.as<'r'>(
    sql`r(id uuid, store_id uuid, key text, kind text, payload jsonb, occurred_at timestamptz)`,
  )
  await ctx.root.transaction().execute(async (transaction) => {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('provider_events')
      .columns(['id', 'store_id', 'port', 'provider', 'key', 'kind', 'payload', 'occurred_at', 'created_at'])
      .expression((db) =>
        db
          .selectFrom(given)
          .select([
            'r.id',
            'r.store_id',
            sql<string>`${port}::text`.as('port'),
            sql<string>`${provider}::text`.as('provider'),
            'r.key',
            'r.kind',
            'r.payload',
            'r.occurred_at',
            sql<Date>`${now}::timestamptz`.as('created_at'),
          ]),
      )
      .onConflict((conflict) => conflict.columns(['port', 'provider', 'key']).doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows) await ctx.queue(providerEventApply, {}, { transaction })
  })
}

const maxKeyLength = 500
const maxKindLength = 200
/** Shortens long keys and appends their hash, because index entries have a size limit. */
const boundedKey = (key: string): string =>
  key.length <= maxKeyLength ? key : `${truncate(key, maxKeyLength - 65)}:${sha256(key)}`

export interface StoredEvent {
  id: string
  key: string
  provider: string
  /** The provider's own id of the store or phone number, or null. */
  storeRef: string | null
  occurredAt: Date
  /** When the event was first received. */
  receivedAt: Date
  data: unknown
}

/**
 * Applies the due events of one store, port and kind, oldest first, in the transaction that marks them as applied. May
 * return ids of events that refer to something not stored yet: these are retried for an hour, then dropped.
 */
export type EventHandler = (ctx: Context, events: StoredEvent[]) => Promise<void> | Promise<readonly string[]>

/**
 * Finds the stores of events that do not name one, by event id. Null: the event belongs to no store. Events missing in the
 * result are retried for an hour.
 */
export type StoreResolver = (
  ctx: SystemContext,
  events: StoredEvent[],
) => Promise<ReadonlyMap<string, string | null>>

const pruneBatchSize = 5_000

/** Deletes events of a port stored before an instant, in batches, until aborted. */
export async function prune(
  system: SystemContext,
  port: string,
  before: Date,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await system.root
      .deleteFrom('provider_events')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('provider_events')
          .select('id')
          .where('port', '=', port)
          .where('created_at', '<', before)
          .limit(pruneBatchSize),
      )
      .executeTakeFirst()
    if (Number(numDeletedRows) < pruneBatchSize || signal.aborted) return
  }
}
