/** Runs of long jobs over all data of a store: at most one run per kind, with its saved position. */
import type { RowChange } from '#db/tables'
import type { Context } from '#runtime/context'
import { inboxReconcile, inboxSegmentsRecalculate } from '../handles.ts'

export type RunKind = 'reconcile' | 'segments'

const jobs = { reconcile: inboxReconcile, segments: inboxSegmentsRecalculate }

/** The run's row, locked until the transaction ends. */
export async function lockRun(tx: Context, kind: RunKind) {
  await tx.db
    .insertInto('inbox_runs')
    .values({ kind })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return tx.db
    .selectFrom('inbox_runs')
    .selectAll()
    .where('kind', '=', kind)
    .forUpdate()
    .executeTakeFirstOrThrow()
}
export type RunRow = Awaited<ReturnType<typeof lockRun>>

export const isLive = ({ status }: { status: string }): boolean => status === 'queued' || status === 'running'

export async function writeRun(tx: Context, kind: RunKind, change: RowChange<'inbox_runs'>): Promise<void> {
  await tx.db.updateTable('inbox_runs').set(change).where('kind', '=', kind).execute()
}

/**
 * Queues a run; null if one is already queued or running. `isRequested`: a member started it and gets a notice at the
 * end.
 */
export async function startRun(
  tx: Context,
  kind: RunKind,
  { days = null, isRequested = false }: { days?: number | null; isRequested?: boolean } = {},
): Promise<{ jobId: string; status: 'queued' } | null> {
  const run = await lockRun(tx, kind)
  if (isLive(run)) return null
  await writeRun(tx, kind, {
    status: 'queued',
    days,
    walked_to: null,
    is_asked_again: false,
    asked_by: isRequested ? tx.actor.userId : null,
    started_at: null,
    finished_at: null,
    processed: 0,
    changed: 0,
    error: null,
  })
  return tx.queue(jobs[kind], {})
}

/**
 * Queues a `segments` run after the tiers changed or for the night. While one is running, any number of requests adds
 * one more run.
 */
export async function recalculateSoon(tx: Context): Promise<void> {
  if (await startRun(tx, 'segments')) return
  await tx.db
    .updateTable('inbox_runs')
    .set({ is_asked_again: true })
    .where('kind', '=', 'segments')
    .where('status', '=', 'running')
    .execute()
}

/** Starts the queued run or resumes the running one; null if there is none. */
export async function beginRun(ctx: Context, kind: RunKind): Promise<RunRow | null> {
  return ctx.transaction(async (tx) => {
    const run = await lockRun(tx, kind)
    if (!isLive(run)) return null
    if (run.status === 'running') return run
    const started = { status: 'running', started_at: tx.now() }
    await writeRun(tx, kind, started)
    return { ...run, ...started }
  })
}

/** Marks the run as failed after the last retry. */
export async function failRun(ctx: Context, kind: RunKind): Promise<void> {
  await ctx.db
    .updateTable('inbox_runs')
    .set({
      status: 'failed',
      finished_at: ctx.now(),
      error: 'Something went wrong on our side: start it again',
    })
    .where('kind', '=', kind)
    .where('status', 'in', ['queued', 'running'])
    .execute()
}
