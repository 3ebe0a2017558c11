/** Every contact's tier computed anew, a thousand at a time (rule 8). */
import { sql } from 'kysely'
import { notify } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { refuseForNow } from '#runtime/errors'
import { refreshOrderNames } from '../conversations/contacts.ts'
import { beginRun, isLive, lockRun, recalculateSoon, startRun, writeRun } from '../switch/runs.ts'
import { tierRules } from './settings.ts'
import { recalculate } from './tiers.ts'

const atOnce = 1000

/** As a member asks for it. Refuses while one is queued or running. */
export async function startRecalculation(ctx: Context) {
  const queued = await startRun(ctx, 'segments', { isAsked: true })
  if (!queued) throw refuseForNow('conflict', 'The tiers are being computed already: wait until that is done')
  return queued
}

/** Goes on after the last contact that was saved; from the first again where the settings changed meanwhile. */
export async function recalculateAll(ctx: Context, signal: AbortSignal): Promise<void> {
  if (!(await beginRun(ctx, 'segments'))) return
  for (;;) {
    signal.throwIfAborted()
    const isOver = await ctx.transaction(recalculateSome)
    if (isOver) return
  }
}

async function recalculateSome(tx: Context): Promise<boolean> {
  const run = await lockRun(tx, 'segments')
  if (!isLive(run)) return true
  let contacts = tx.db.selectFrom('contacts').select('id').orderBy('id').limit(atOnce)
  if (run.walked_to !== null) contacts = contacts.where('id', '>', run.walked_to)
  const ids = (await contacts.execute()).map((row) => row.id)
  const changed = await recalculate(tx, await tierRules.inForce(tx), ids)
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

/** Stores in which it is past 03:00 of a day that was not computed yet. */
export async function storesForTheNight(ctx: SystemContext): Promise<{ storeId: string; day: string }[]> {
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

/** Once a local day. */
export async function startNight(ctx: Context, day: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const run = await lockRun(tx, 'segments')
    if (run.night !== null && run.night >= day) return
    await recalculateSoon(tx)
    await writeRun(tx, 'segments', { night: day })
  })
}

/** For a few contacts at once: their orders or conversations are new. */
export async function recalculateContacts(ctx: Context, contactIds: string[]): Promise<void> {
  await ctx.transaction(async (tx) => {
    await refreshOrderNames(tx, contactIds)
    await recalculate(tx, await tierRules.inForce(tx), contactIds)
  })
}
