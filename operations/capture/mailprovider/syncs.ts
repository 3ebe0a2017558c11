/** Manual syncs, which push all subscribers or the new ones to the email provider. A store has at most one at a time. */

import { sql } from 'kysely'
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuseDuplicate } from '#runtime/database/rows'
import { hourMs, minuteMs } from '#runtime/durations'
import { refuse, refuseTemporarily } from '#runtime/errors'
import { pause } from '#runtime/pause'
import { Refused, Throttled } from '#runtime/ports/errors'
import { count, object, queued, text, z } from '#runtime/schema'
import { mailproviderSync } from '../handles.ts'
import { mailingList } from '../mailing-list/connection.ts'
import { maxPeoplePerCall } from '../mailing-list/port.ts'
import { pushBatch, pushedColumns, recordPushed, selectPushable } from './push.ts'

export const syncInput = object({
  listId: text(1, 100).optional().describe("A list of the provider; default: the connection's"),
  mode: z
    .enum(['new', 'all'])
    .default('new')
    .describe('new: subscribers never pushed, or changed since; all: everybody'),
})
export const syncQueued = queued({ pending: count.describe('Subscribers that will be pushed') })

/** A running sync without progress for this long has lost its worker, and its job is not retried any more. */
const deadAfterMs = 6 * hourMs
/** Longest pause for a throttling provider. If it asks for a longer one, the job is retried later. */
const pauseAtMostMs = minuteMs

/**
 * Queues a sync. Refuses a missing provider or list, an unknown list, and a sync while another is running. Not inside a
 * transaction.
 */
export async function startSync(
  ctx: Context,
  input: z.infer<typeof syncInput>,
): Promise<z.infer<typeof syncQueued>> {
  const { connected, listId } = await requireProvider(ctx, input.listId)
  if (!(await connected.port.lists(connected.store)).some((list) => list.id === listId)) {
    throw refuse('bad_request', `listId: the email provider has no list ${listId}`)
  }
  return ctx.transaction(async (tx) => {
    const now = tx.now()
    await tx.db
      .updateTable('newsletter_syncs')
      .set({ status: 'failed', failure_reason: 'It was interrupted', finished_at: now, updated_at: now })
      .where('status', 'in', ['queued', 'running'])
      .where('updated_at', '<', new Date(now.getTime() - deadAfterMs))
      .execute()
    const { pending } = await selectPushable(tx, input.mode)
      .select(sql<number>`count(*)::int`.as('pending'))
      .executeTakeFirstOrThrow()
    const jobId = tx.newId()
    await insertSync(tx, { id: jobId, list_id: listId, mode: input.mode })
    await tx.queue(mailproviderSync, { syncId: jobId }, { id: jobId })
    return { jobId, status: 'queued', pending }
  })
}

async function requireProvider(ctx: Context, asked: string | undefined) {
  const connected = await mailingList(ctx)
  if (!connected) {
    throw refuse('conflict', 'The store is not connected to an email provider: connect it first')
  }
  const listId = asked ?? connected.listId
  if (listId === null) throw refuse('conflict', 'listId: no list of the email provider was chosen: name one')
  return { connected, listId }
}

async function insertSync(ctx: Context, sync: { id: string; list_id: string; mode: string }): Promise<void> {
  const now = ctx.now()
  const inserted = ctx.db
    .insertInto('newsletter_syncs')
    .values({ ...sync, cursor: null, failure_reason: null, created_at: now, updated_at: now })
  const busy = refuseTemporarily('conflict', 'A sync is queued or running: wait until it has ended')
  await refuseDuplicate('newsletter_syncs_live', busy, () => inserted.execute())
}

interface Sync {
  id: string
  list_id: string
  mode: string
  cursor: string | null
  pushed: number
}

/** Runs a sync batch by batch. A retry of the job continues after the last recorded batch. */
export async function runSync(ctx: Context, syncId: string, signal: AbortSignal): Promise<void> {
  let sync = await beginSync(ctx, syncId)
  try {
    const { connected } = await requireProvider(ctx, sync?.list_id)
    while (sync) {
      const people = await nextBatch(ctx, sync)
      if (people.length === 0) return await finish(ctx, sync)
      signal.throwIfAborted()
      const pushed = await retryThrottled(signal, () => pushBatch(connected, sync!.list_id, people))
      sync = await advance(ctx, sync, pushed)
    }
  } catch (error) {
    if (!(error instanceof Refused) || !sync) throw error
    await failSync(ctx, syncId, error.message)
  }
}

const beginSync = async (ctx: Context, syncId: string): Promise<Sync | null> =>
  (await ctx.db
    .updateTable('newsletter_syncs')
    .set({ status: 'running', updated_at: ctx.now() })
    .where('id', '=', syncId)
    .where('status', 'in', ['queued', 'running'])
    .returning(['id', 'list_id', 'mode', 'cursor', 'pushed'])
    .executeTakeFirst()) ?? null

/**
 * Claims the next batch until its push is recorded. The claim shows that a person who unsubscribes in between may be on the
 * list.
 */
async function nextBatch(ctx: Context, { id, mode, cursor }: Sync) {
  let rows = selectPushable(ctx, mode === 'all' ? 'all' : 'new').select('s.id')
  if (cursor) rows = rows.where('s.id', '>', cursor)
  const people = await ctx.db
    .updateTable('newsletter_subscribers as s')
    .set({
      push_claim: sql<string>`coalesce(s.push_claim, ${id}::uuid)`,
      push_claimed_at: sql<Date>`case when s.push_claim is null then ${ctx.now()}::timestamptz else s.push_claimed_at end`,
    })
    .where('s.id', 'in', rows.orderBy('s.id').limit(sql<number>`${maxPeoplePerCall}::int`).forUpdate())
    .returning(pushedColumns)
    .execute()
  return people.sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function retryThrottled<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof Throttled) || error.retryAfterMs > pauseAtMostMs) throw error
    if (!(await pause(error.retryAfterMs, signal))) throw error
    return call()
  }
}

/**
 * Records the results of a batch and moves the cursor, in one transaction. Returns null if the sync has ended
 * meanwhile.
 */
async function advance(ctx: Context, sync: Sync, pushed: Awaited<ReturnType<typeof pushBatch>>) {
  return ctx.transaction(async (tx): Promise<Sync | null> => {
    await recordPushed(tx, pushed)
    const cursor = pushed.at(-1)!.id
    const count = sync.pushed + pushed.length
    const moved = await tx.db
      .updateTable('newsletter_syncs')
      .set({ cursor, pushed: count, updated_at: tx.now() })
      .where('id', '=', sync.id)
      .where('status', '=', 'running')
      .returning('id')
      .executeTakeFirst()
    return moved ? { ...sync, cursor, pushed: count } : null
  })
}

async function finish(ctx: Context, { id, pushed }: Sync): Promise<void> {
  await endSync(ctx, id, { status: 'completed', failure_reason: null }, (tx) =>
    notify(tx, {
      type: 'mailprovider-sync-completed',
      level: 'success',
      title: 'The email provider has your subscribers',
      message: `${pushed} ${pushed === 1 ? 'subscriber was' : 'subscribers were'} pushed.`,
      data: { jobId: id, pushed },
      dedupeKey: `mailprovider-sync:${id}`,
    }),
  )
}

/** Marks a sync as failed and notifies the merchant. `reason` is a sentence for the merchant. */
export async function failSync(ctx: Context, syncId: string, reason: string): Promise<void> {
  await endSync(ctx, syncId, { status: 'failed', failure_reason: reason }, (tx) =>
    notify(tx, {
      type: 'mailprovider-sync-failed',
      level: 'error',
      title: 'Subscribers could not be pushed to the email provider',
      message: reason,
      data: { jobId: syncId },
      dedupeKey: `mailprovider-sync:${syncId}`,
    }),
  )
}

async function endSync(
  ctx: Context,
  syncId: string,
  how: { status: string; failure_reason: string | null },
  tell: (tx: Context) => Promise<void>,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const ended = await tx.db
      .updateTable('newsletter_syncs')
      .set({ ...how, finished_at: now, updated_at: now })
      .where('id', '=', syncId)
      .where('status', 'in', ['queued', 'running'])
      .returning('id')
      .executeTakeFirst()
    if (ended) await tell(tx)
  })
}
