/** What pg-boss is told: how each queue is to be, and by which connections it reaches the database. */
import { type ConstructorOptions, fromPglite, type PgBoss } from 'pg-boss'
import type { Database } from '#db/database'
import { jobGraceMs } from '#db/deadlines'
import type { QueuedJob } from './handle.ts'

/** A running job that says nothing for so long belongs to a dead worker. */
export const heartbeatSeconds = 20
/** So long after its time a job is taken from a worker that has not ended it. */
const lateSeconds = (2 * jobGraceMs) / 1000
/**
 * Where what was given up is put, in the statement that gives it up: by the worker that ran it, or by who noticed that
 * the worker is gone. So its `failed` is called whoever ran it, and again until it succeeds.
 */
export const failedQueue = 'failed-jobs'
const keepSeconds = 3 * 24 * 3600
const jobsRetainedSeconds = 400 * 24 * 3600

function queueOptions({ spec }: QueuedJob) {
  return {
    // Of one key one waits; that one runs at a time is the worker's: pg-boss's own policies for it go by a list of
    // running keys that is refreshed once a minute, and let a successor wait that long.
    policy: spec.oneAtATimePer ? 'short' : 'standard',
    retryLimit: spec.retry.limit,
    retryDelay: spec.retry.backoffSeconds,
    retryBackoff: true,
    // The worker ends it by itself, a little before: this is for one that cannot.
    expireInSeconds: spec.timeoutSeconds + lateSeconds,
    retentionSeconds: jobsRetainedSeconds,
    heartbeatSeconds,
    deleteAfterSeconds: spec.everySeconds ? 3600 : keepSeconds,
    deadLetter: failedQueue,
  }
}

const failedQueueOptions = {
  policy: 'standard',
  retryLimit: 5,
  retryDelay: 10,
  retryBackoff: true,
  expireInSeconds: 300,
  retentionSeconds: jobsRetainedSeconds,
  heartbeatSeconds,
  deleteAfterSeconds: 3600,
} as const

/** Makes the queues that are missing and changes those that are not as wanted. */
export async function makeQueues(
  boss: PgBoss,
  database: Database,
  jobs: readonly QueuedJob[],
): Promise<void> {
  const known = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  if (!known.has(failedQueue)) await boss.createQueue(failedQueue, failedQueueOptions)
  for (const job of jobs) {
    const wanted = queueOptions(job)
    const there = known.get(job.name)
    if (there && asWanted.every((option) => there[option] === wanted[option])) continue
    if (!there) {
      await boss.createQueue(job.name, wanted)
      continue
    }
    const { policy, ...changeable } = wanted
    await boss.updateQueue(job.name, changeable)
    // pg-boss would have the queue deleted for it, with all that waits in it: that goes by the policy of its own row.
    await database.query('update pgboss.queue set policy = $2 where name = $1', [job.name, policy])
  }
}
const asWanted = ['policy', 'expireInSeconds', 'retryLimit', 'deadLetter'] as const

/**
 * Those that wait or run, by their key. pg-boss has no such index: each look for one would read all of the queue that
 * is kept. Made once; who finds it there needs no right to make it.
 */
export async function indexKeys(database: Database): Promise<void> {
  const there = await database.query(
    `select 1 from pg_indexes where schemaname = 'pgboss' and indexname = 'job_live_keys'`,
    [],
  )
  if (there.length > 0) return
  await database.patient.script(
    `create index if not exists job_live_keys on pgboss.job (name, singleton_key) where state <= 'active'`,
  )
}

/** pg-boss's statements over our own connections. */
export function bossDatabase(database: Database): NonNullable<ConstructorOptions['db']> {
  if (database.pglite) return fromPglite(database.pglite)
  // It also puts its tables in order now and then, which takes long where there are many jobs.
  const { patient } = database
  return {
    async executeSql(text, values) {
      const rows = values?.length
        ? await patient.query<Record<string, unknown>>(text, values)
        : await patient.script<Record<string, unknown>>(text)
      return { rows }
    },
  }
}
