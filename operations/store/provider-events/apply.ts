/**
 * Applies stored events, in one transaction per store and kind, so that a failure affects no other store or kind.
 */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { Row } from '#db/tables'
import type { Context, SystemContext } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import type { StoredEvent } from './accept.ts'

const batch = 500
const workMs = minuteMs
const unplacedLimitMs = hourMs

/** Collects the earliest due time of all postponed events. */
interface Wake {
  at: Date | null
}
function noteWake(wake: Wake, instants: readonly Date[]): void {
  for (const at of instants) if (!wake.at || at < wake.at) wake.at = at
}

interface Group {
  storeId: string | null
  port: string
  kind: string
  ids: string[]
}

/**
 * Applies these events now, for a caller that needs their effects. Waits for events that another worker is applying. Leaves
 * failed events to the job. Returns whether all of these events are applied.
 */
export async function applyEvents(
  ctx: SystemContext,
  port: string,
  provider: string,
  keys: readonly string[],
): Promise<boolean> {
  const open = () =>
    ctx.root
      .selectFrom('provider_events')
      .select(['id', 'store_id', 'port', 'kind'])
      .where('port', '=', port)
      .where('provider', '=', provider)
      .where(sql<boolean>`key = any(${[...keys]}::text[])`)
      .where('applied_at', 'is', null)
      .orderBy('id')
      .execute()
  for (const group of groupEvents(await open())) await applyGroup(ctx, group, { at: null })
  return (await open()).length === 0
}

/**
 * Applies due events, oldest first, for at most a minute. Returns when to continue: now if the minute was not enough,
 * otherwise the due time of the first postponed event, or null if there is none. Throws at the end if a whole group failed
 * rather than a single event, for example because a store's node is down.
 */
export async function applyDueEvents(ctx: SystemContext, signal: AbortSignal): Promise<Date | null> {
  const failures: unknown[] = []
  const at = await applyDue(ctx, signal, failures)
  if (failures.length > 0) throw new AggregateError(failures, `Not applied: ${failures[0]}`)
  return at
}

async function applyDue(ctx: SystemContext, signal: AbortSignal, failures: unknown[]): Promise<Date | null> {
  const until = performance.now() + workMs
  const wake: Wake = { at: null }
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const found = await ctx.root
      .selectFrom('provider_events')
      .select(['id', 'store_id', 'port', 'kind'])
      .where(isDue(ctx.now()))
      .where('id', '>', after)
      .orderBy('id')
      .limit(batch)
      .execute()
    for (const group of groupEvents(found)) {
      if (signal.aborted || performance.now() > until) return ctx.now()
      await applyGroup(ctx, group, wake).catch((error: unknown) => failures.push(error))
    }
    if (found.length < batch) break
    after = found.at(-1)!.id
  }
  return wake.at
}

/** Whether an event is not applied and due. It is retried 1, 3, 7, 15… seconds after it was stored. */
const isDue = (now: Date) =>
  sql<boolean>`applied_at is null
    and created_at + (power(2, attempts) - 1) * interval '1 second' <= ${now}::timestamptz`

/** Passes the ids as one array, so that the SQL is the same for any number of ids and is prepared once. */
const hasId = (ids: readonly string[]) => sql<boolean>`id = any(${ids}::uuid[])`

function groupEvents(found: { id: string; store_id: string | null; port: string; kind: string }[]): Group[] {
  const groups = new Map<string, Group>()
  for (const { id, store_id: storeId, port, kind } of found) {
    const key = `${storeId}:${port}:${kind}`
    const group = groups.get(key) ?? { storeId, port, kind, ids: [] }
    groups.set(key, group)
    group.ids.push(id)
  }
  return [...groups.values()]
}

async function applyGroup(ctx: SystemContext, group: Group, wake: Wake): Promise<void> {
  const { storeId, port, kind, ids } = group
  if (!ctx.extensions.providerEvents[`${port}:${kind}`]) return markApplied(ctx.root, ids, ctx.now())
  if (storeId === null) return findStores(ctx, group, wake)
  const store = await ctx.forStore(storeId)
  // The store was deleted.
  if (!store) return markApplied(ctx.root, ids, ctx.now())
  await applyOrBisect(store, group, ids, wake)
}

/** Applies a batch of events. Bisects a failing batch until the failing event is isolated. */
async function applyOrBisect(store: Context, group: Group, ids: string[], wake: Wake): Promise<void> {
  try {
    noteWake(wake, await store.transaction((tx) => applyWithin(tx, group, ids)))
  } catch (error) {
    if (ids.length > 1) {
      const middle = Math.ceil(ids.length / 2)
      await applyOrBisect(store, group, ids.slice(0, middle), wake)
      await applyOrBisect(store, group, ids.slice(middle), wake)
      return
    }
    store.log.error(
      { err: error, eventId: ids[0], port: group.port, kind: group.kind },
      'provider event failed',
    )
    const failure = error instanceof Error ? error.message : String(error)
    noteWake(wake, await scheduleRetry(store.system, ids, failure, store.now()))
  }
}

async function applyWithin(tx: Context, { port, kind }: Group, ids: string[]): Promise<Date[]> {
  // One worker at a time per store and kind, to keep the order of events.
  const name = `provider events ${tx.store.id} ${port} ${kind}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.system)
  const rows = await tx.system
    .selectFrom('provider_events')
    .selectAll()
    .where(hasId(ids))
    .where(isDue(tx.now()))
    .orderBy('id')
    .forUpdate()
    .execute()
  if (rows.length === 0) return []
  const events = rows.map(toStoredEvent)
  const unplaced = new Set<string>()
  for (const apply of tx.extensions.providerEvents[`${port}:${kind}`] ?? []) {
    for (const id of (await apply(tx, events)) ?? []) unplaced.add(id)
  }
  const placed = rows.filter((row) => !unplaced.has(row.id))
  await markApplied(
    tx.system,
    placed.map((row) => row.id),
    tx.now(),
  )
  return postponeUnplaced(
    tx,
    tx.system,
    rows.filter((row) => unplaced.has(row.id)),
  )
}

/** Finds the stores of events that do not name one, and applies the events. */
async function findStores(ctx: SystemContext, group: Group, wake: Wake): Promise<void> {
  const find = ctx.extensions.storeResolvers[group.port]
  if (!find) return markApplied(ctx.root, group.ids, ctx.now())
  const rows = await ctx.root
    .selectFrom('provider_events')
    .selectAll()
    .where(hasId(group.ids))
    .where('applied_at', 'is', null)
    .orderBy('id')
    .execute()
  const stores = await find(ctx, rows.map(toStoredEvent))
  const byStore = new Map<string | null, string[]>()
  for (const [id, storeId] of stores) byStore.set(storeId, [...(byStore.get(storeId) ?? []), id])
  for (const [storeId, ids] of byStore) {
    if (storeId === null) {
      await markApplied(ctx.root, ids, ctx.now())
      continue
    }
    await ctx.root.updateTable('provider_events').set({ store_id: storeId }).where(hasId(ids)).execute()
    await applyGroup(ctx, { ...group, storeId, ids }, wake)
  }
  const unresolved = rows.filter((row) => !stores.has(row.id))
  noteWake(wake, await postponeUnplaced(ctx, ctx.root, unresolved))
}

/** Schedules a retry, because an event can arrive before the rows that it refers to are committed. Drops it after an hour. */
async function postponeUnplaced(
  ctx: Context | SystemContext,
  db: RootDatabase,
  events: readonly Row<'provider_events'>[],
): Promise<Date[]> {
  if (events.length === 0) return []
  const now = ctx.now()
  const isOver = (event: Row<'provider_events'>): boolean =>
    now.getTime() - event.created_at.getTime() >= unplacedLimitMs
  const over = events.filter(isOver)
  if (over.length > 0) {
    const keys = over.slice(0, 20).map((event) => event.key)
    ctx.log.warn({ events: over.length, keys }, 'unplaced provider events dropped after an hour')
    await markApplied(
      db,
      over.map((event) => event.id),
      now,
      'Known nowhere after an hour',
    )
  }
  const ids = events.filter((event) => !isOver(event)).map((event) => event.id)
  return scheduleRetry(db, ids, 'Known nowhere yet', now)
}

/**
 * Counts a failed attempt, and returns when each event is due again. The `isDue` condition prevents two concurrent workers
 * from counting the same attempt twice.
 */
async function scheduleRetry(
  db: RootDatabase,
  ids: readonly string[],
  failure: string,
  now: Date,
): Promise<Date[]> {
  if (ids.length === 0) return []
  const rows = await db
    .updateTable('provider_events')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), failure }))
    .where(hasId(ids))
    .where(isDue(now))
    .returning(['created_at', 'attempts'])
    .execute()
  return rows.map((row) => new Date(row.created_at.getTime() + (2 ** row.attempts - 1) * 1000))
}

async function markApplied(
  db: RootDatabase,
  ids: readonly string[],
  now: Date,
  failure: string | null = null,
): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('provider_events')
    .set({ applied_at: now, failure })
    .where(hasId(ids))
    .where('applied_at', 'is', null)
    .execute()
}

function toStoredEvent(row: Row<'provider_events'>): StoredEvent {
  const { storeRef, data } = row.payload as { storeRef: string | null; data: unknown }
  const { id, key, provider, occurred_at: occurredAt, created_at: receivedAt } = row
  return { id, key, provider, storeRef, occurredAt, receivedAt, data }
}
