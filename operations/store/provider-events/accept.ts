/** What providers told us: stored once, applied by the job `provider-event-apply`. */

import { sql } from 'kysely'
import type { Context, SystemContext } from '#runtime/context'
import type { ProviderEvent } from '#runtime/ports/provider'
import { cut } from '#runtime/values/cut'
import { newId, sha256 } from '#runtime/values/ids'
import { isPlausible, storable, storableText } from '#runtime/values/storable'
import { providerEventApply } from '../handles.ts'

export interface IncomingEvent extends ProviderEvent {
  /** The store it is for, or null when only applying it can tell. */
  storeId: string | null
}

/**
 * Stores events and queues their job in one transaction; those known already are passed over. What no table can hold is
 * taken out of an event, one of an impossible time happened now: nothing that one of them says fails the others.
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
    key: boundedKey(storableText(event.key)),
    kind: cut(storableText(event.kind), kindAtMost),
    payload: storable({ storeRef: event.storeRef, data: event.data }),
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

const keyAtMost = 500
const kindAtMost = 200
/** An index cannot hold a text of any length. */
const boundedKey = (key: string): string =>
  key.length <= keyAtMost ? key : `${cut(key, keyAtMost - 65)}:${sha256(key)}`

export interface StoredEvent {
  id: string
  key: string
  provider: string
  /** The provider's own name for the store or number, or null. */
  storeRef: string | null
  occurredAt: Date
  /** When it was first told here. */
  receivedAt: Date
  data: unknown
}

/**
 * Applies events of a port and kind, in a transaction that also marks them applied, with all events of one store and
 * kind that are due, oldest first. May answer the ids of those that it cannot place yet: they come again for an hour,
 * then are dropped.
 */
export type Applies = (ctx: Context, events: StoredEvent[]) => Promise<void> | Promise<readonly string[]>

/**
 * Finds the stores of a port's events that came without one, by event id; null: nobody's. Those it leaves out come
 * again for an hour.
 */
export type FindsStores = (
  ctx: SystemContext,
  events: StoredEvent[],
) => Promise<ReadonlyMap<string, string | null>>

const prunedAtOnce = 5_000

/** Deletes what was stored of a port before that instant, some at a time, as long as nobody ends it. */
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
          .limit(prunedAtOnce),
      )
      .executeTakeFirst()
    if (Number(numDeletedRows) < prunedAtOnce || signal.aborted) return
  }
}
