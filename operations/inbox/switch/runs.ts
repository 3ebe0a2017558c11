/** The jobs that walk everything of a store: one run of each at a time, and how far it came. */
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

/** Queues a run; null while one is queued or runs already. `isAsked`: by a member, who is told of its end. */
export async function startRun(
  tx: Context,
  kind: RunKind,
  { days = null, isAsked = false }: { days?: number | null; isAsked?: boolean } = {},
): Promise<{ jobId: string; status: 'queued' } | null> {
  const run = await lockRun(tx, kind)
  if (isLive(run)) return null
  await writeRun(tx, kind, {
    status: 'queued',
    days,
    walked_to: null,
    is_asked_again: false,
    asked_by: isAsked ? tx.actor.userId : null,
    started_at: null,
    finished_at: null,
    processed: 0,
    changed: 0,
    error: null,
  })
  return tx.queue(jobs[kind], {})
}

/** Of `segments`, after the tiers changed or for the night: of several that ask meanwhile it becomes one run more. */
export async function recalculateSoon(tx: Context): Promise<void> {
  if (await startRun(tx, 'segments')) return
  await tx.db
    .updateTable('inbox_runs')
    .set({ is_asked_again: true })
    .where('kind', '=', 'segments')
    .where('status', '=', 'running')
    .execute()
}

/** The run that the job goes on with, from where it came; null where there is none. */
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

/** After the last try. */
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
