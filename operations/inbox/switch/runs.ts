/** Manages the runs of long jobs over all data of a store: at most one run per kind, whose position is saved. */
import type { RowChange } from '#db/tables'
import type { Context } from '#runtime/context'
import { inboxReconcile, inboxSegmentsRecalculate } from '../handles.ts'

export type RunKind = 'reconcile' | 'segments'

const jobs = { reconcile: inboxReconcile, segments: inboxSegmentsRecalculate }

/** Reads or creates the run's row, and locks it until the transaction ends. */
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
 * Queues a run. Returns null if a run of the kind is already queued or running. `isRequested` is true if a member starts
 * the run, to notify them when it ends.
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
 * Queues a `segments` run, every night and after the tiers changed. If one is already running, it is run once more
 * afterwards, however often this is called.
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

/** Starts the queued run, or resumes the running one after a retry. Null if there is neither. */
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

/** Marks the run as failed. Called when its job has failed and is not retried again. */
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
