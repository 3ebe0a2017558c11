/** Recalculates the tiers of all contacts in batches of 1000 (rule 8). */
import { sql } from 'kysely'
import { notify } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { refuseTemporarily } from '#runtime/errors'
import { refreshOrderNames } from '../conversations/contacts.ts'
import { beginRun, isLive, lockRun, recalculateSoon, startRun, writeRun } from '../switch/runs.ts'
import { tierRules } from './settings.ts'
import { recalculate } from './tiers.ts'

const atOnce = 1000

/** Starts a recalculation that a member requests. Refuses while one is queued or running. */
export async function startRecalculation(ctx: Context) {
  const queued = await startRun(ctx, 'segments', { isRequested: true })
  if (!queued)
    throw refuseTemporarily('conflict', 'The tiers are being computed already: wait until that is done')
  return queued
}

/**
 * Runs the recalculation. A retry resumes after the last saved contact. Starts over if the tier settings changed
 * meanwhile.
 */
export async function recalculateAll(ctx: Context, signal: AbortSignal): Promise<void> {
  if (!(await beginRun(ctx, 'segments'))) return
  for (;;) {
    signal.throwIfAborted()
    const isOver = await ctx.transaction(recalculateBatch)
    if (isOver) return
  }
}

async function recalculateBatch(tx: Context): Promise<boolean> {
  const run = await lockRun(tx, 'segments')
  if (!isLive(run)) return true
  let contacts = tx.db.selectFrom('contacts').select('id').orderBy('id').limit(atOnce)
  if (run.walked_to !== null) contacts = contacts.where('id', '>', run.walked_to)
  const ids = (await contacts.execute()).map((row) => row.id)
  const changed = await recalculate(tx, await tierRules.getEffective(tx), ids)
  const counted = { processed: run.processed + ids.length, changed: run.changed + changed }
  await writeRun(tx, 'segments', { ...counted, walked_to: ids.at(-1) ?? run.walked_to })
  if (ids.length === atOnce) return false
  if (run.is_asked_again) {
    await writeRun(tx, 'segments', { walked_to: null, is_asked_again: false, processed: 0, changed: 0 })
    return false
  }
  await writeRun(tx, 'segments', { status: 'idle', finished_at: tx.now(), walked_to: null })
  if (run.asked_by !== null) {
    await notify(tx, {
      type: 'inbox-segments-finished',
      level: 'success',
      title: 'The tiers are computed',
      message: `${counted.processed} contacts were looked at, ${counted.changed} changed.`,
      data: { contacts: counted.processed, changed: counted.changed },
      dedupeKey: null,
    })
  }
  return true
}

/** Finds the stores where it is 03:00 local time or later and that have had no nightly run on this day. */
export async function findStoresDueTonight(ctx: SystemContext): Promise<{ storeId: string; day: string }[]> {
  const local = sql`${ctx.now()}::timestamptz at time zone s.timezone`
  const rows = await ctx.root
    .selectFrom('stores as s')
    .leftJoin('inbox_runs as r', (on) => on.onRef('r.store_id', '=', 's.id').on('r.kind', '=', 'segments'))
    .select(['s.id as store_id', sql<string>`(${local})::date`.as('day')])
    .where(sql<boolean>`extract(hour from ${local}) >= 3`)
    .where(sql<boolean>`(r.night is null or r.night < (${local})::date)`)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('contacts as k').select('k.id').whereRef('k.store_id', '=', 's.id')),
    )
    .execute()
  return rows.map((row) => ({ storeId: row.store_id, day: row.day }))
}

/** Starts the nightly run of a local day, unless that day already had one. */
export async function startNightlyRun(ctx: Context, day: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const run = await lockRun(tx, 'segments')
    if (run.night !== null && run.night >= day) return
    await recalculateSoon(tx)
    await writeRun(tx, 'segments', { night: day })
  })
}

/** Updates the order names and tiers of contacts with changed orders or a new conversation. */
export async function recalculateContacts(ctx: Context, contactIds: string[]): Promise<void> {
  await ctx.transaction(async (tx) => {
    await refreshOrderNames(tx, contactIds)
    await recalculate(tx, await tierRules.getEffective(tx), contactIds)
  })
}
