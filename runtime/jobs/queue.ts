// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/** Background jobs on pg-boss: queues made from the job files, sends inside the caller's transaction. */
import { CompiledQuery, type Transaction } from 'kysely'
import { PgBoss } from 'pg-boss'
import { joinCommits } from '#db/citus/distribute'
import { announce } from '#db/citus/settled'
import type { Database } from '#db/database'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { Gathered } from '#runtime/gateway/gathered'
import type { z } from '#runtime/schema'
import { currentTrace, type Trace } from '#runtime/trace'
import { newId } from '#runtime/values/ids'
import { bossDatabase, indexKeys, makeQueues } from './boss.ts'
import type { Handle, QueuedJob } from './handle.ts'
import { asking, hasten, insert, insertOrJoin, type Row } from './queueing.ts'
import {
  behindOthers,
  claim,
  completeRuns,
  dueQueues,
  putBackRun,
  touchRun,
  unfinishedJobs,
} from './statements.ts'

export interface QueueOptions {
  /** Not before this instant of the clock. */
  at?: Date
  afterSeconds?: number
  /** For a row that must carry the job's id; default a new one. */
  id?: string
  transaction?: Transaction<Tables> | null
}

export interface Envelope<Payload = unknown> {
  storeId: string | null
  userId: string | null
  requestId: string
  payload: Payload
  /** Of the request that it comes from. */
  trace?: Trace
}

export interface FetchedJob {
  /** Of its queue. */
  name: string
  id: string
  data: Envelope
  retryCount: number
  /** Of this claim alone: a job that was put back keeps its tries. */
  begunAt: string
  retryLimit: number
  /** Below 0 in the background. */
  priority: number
  /** Of a job that runs one at a time. */
  singletonKey: string | null
  /** Another of this key waits or runs, or may: whoever has it asks `behindAnother`. */
  mayBeBehind: boolean
  /** Of what lies in `failedQueue`: the job that was given up. */
  sourceName: string | null
  sourceId: string | null
  sourceOutput: unknown
}

/** Of one run: the same job tried again, or put back and claimed again, is another. */
type Run = Pick<FetchedJob, 'id' | 'retryCount' | 'begunAt'>

export interface DueQueue {
  name: string
  /** One of its due jobs is somebody's. */
  isAwaited: boolean
  /** One of them is of the background. */
  isInBackground: boolean
}

/** Of a queue at most so many. */
interface Wanted {
  name: string
  atMost: number
}

export interface Queue {
  readonly boss: PgBoss
  /** To the job that takes the handle: one of those that the queue was opened with. */
  send<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    envelope: Envelope<z.input<P>>,
    options?: QueueOptions,
  ): Promise<string>
  /** What the server's own clock has due, of many jobs in one statement. */
  sendClocked(handles: readonly Handle[], transaction: Transaction<Tables>): Promise<void>
  /**
   * Many at once, as the clock queues them: behind whatever somebody waits for, and gone soon after they are done. Of a
   * key one waits, as with `send`.
   */
  sendInBackground<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    envelopes: readonly Envelope<z.input<P>>[],
  ): Promise<void>
  /** The queues with a job that is due; all with one that is unfinished, where that is asked. */
  due(names: readonly string[], orUnfinished?: boolean): Promise<DueQueue[]>
  /** How many jobs are due, claimed by whichever process, or put back by one for a moment. In one look. */
  unfinished(names: readonly string[]): Promise<number>
  /** In the order of the queues until there are enough (`inAll`). `awaited`: none of the background. */
  fetch(wanted: readonly Wanted[], inAll: number, which: 'awaited' | 'any'): Promise<FetchedJob[]>
  /** Those that end together are written together, of whichever queues. */
  complete(name: string, run: Run): Promise<void>
  /** As all that is said of a run: nothing where the job is this run's no longer. Said twice, it counts once. */
  fail(name: string, run: Run, reason: string): Promise<void>
  /** Says that a running job is alive; false where it is this run's no longer. */
  touch(name: string, run: Run): Promise<boolean>
  /** Puts a running job back as it was, its tries uncounted. */
  handBack(name: string, run: Run): Promise<void>
  /** The ids of those of these running jobs before which another of their key began to run. */
  behindAnother(runs: readonly Pick<FetchedJob, 'name' | 'id'>[]): Promise<string[]>
  /** Puts a running job back to wait a while, its tries uncounted. */
  postpone(name: string, run: Run, seconds: number): Promise<void>
  /** Jobs of a store, or of all, that wait for a provider (`waitForProvider`) are due. */
  bringForward(storeId: string | null, transaction?: Transaction<Tables> | null): Promise<void>
  /**
   * Puts a running job back until its provider may answer again, its tries uncounted. Of a job that runs one at a time,
   * one that waits already stands for it.
   */
  waitForProvider(name: string, job: FetchedJob, seconds: number): Promise<void>
  /** Brings waiting jobs forward, as if that time had passed; a negative time puts them off, but for those due now (`keepDue`). */
  advance(milliseconds: number, options?: { keepDue?: boolean }): Promise<void>
  /** Tells what listens in this process that something was queued. */
  onSent(listener: () => void): void
  /** Jobs by queue and state, for the metrics, and since when the longest of those that are due is. */
  counts(): Promise<{ name: string; state: string; jobs: number; lagSeconds: number | null }[]>
  stop(): Promise<void>
}

/** Who is behind another of its key waits no longer than this before it looks again. */
const putBackAtMostSeconds = 5
/** What the clock queued for thousands of stores, many times an hour: nobody asks for it once it is done. */
const keepBackgroundSeconds = 600
/** How often those that were kept long enough are deleted: once a day, as pg-boss would, there are millions of them. */
const deletesEverySeconds = 300
const backgroundPriority = -1
/**
 * PostgreSQL learns of a table by itself within minutes. Until then it takes thousands of jobs that were queued at once
 * for a few, and sorts all of them at each claim.
 */
const learnsOfEach = 2000
const lowestPriority = -(2 ** 31)

type Ended = Run & { name: string }

/** Connects, creating the schema of the queue where it is missing (`migrate`), and the queues of these jobs. */
export async function openQueue(
  database: Database,
  jobs: readonly QueuedJob[],
  clock: Clock,
  options: { supervise: boolean; onError(error: Error): void },
): Promise<Queue> {
  const boss = new PgBoss({
    db: bossDatabase(database),
    backend: database.kind,
    schedule: false,
    supervise: options.supervise,
    migrate: true,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    maintenanceIntervalSeconds: deletesEverySeconds,
  })
  boss.on('error', options.onError)
  await boss.start()
  await makeQueues(boss, database, jobs)
  await indexKeys(database)
  await joinCommits(database)
  // Here, where nobody holds a connection: a send within a transaction must not ask for another.
  const isDistributed = await database.isDistributed()

  const listeners: (() => void)[] = []
  const byName = new Map(jobs.map((job) => [job.name, job]))
  const completed = new Gathered<Ended, void>(
    async (runs) => {
      // Two workers whose runs are another's by now meet in one order.
      const inOrder = runs.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      await database.query(completeRuns, [
        inOrder.map(({ name }) => name),
        inOrder.map(({ id }) => id),
        inOrder.map(({ retryCount }) => retryCount),
        inOrder.map(({ begunAt }) => begunAt),
      ])
      return runs.map(() => undefined)
    },
    ({ id, retryCount, begunAt }) => `${id}:${retryCount}:${begunAt}`,
  )

  const alone = asking(database, null)
  /** Queued in the background since PostgreSQL was told. */
  let unlearned = 0
  const jobOf = (name: string): QueuedJob => {
    const job = byName.get(name)
    if (!job) throw new Error(`No job takes the handle ${name}: write jobs/${name}.ts, or queue another`)
    return job
  }
  const rowOf = (name: string, envelope: Envelope, { id, at, afterSeconds = 0 }: QueueOptions = {}): Row => {
    const { handle, spec } = jobOf(name)
    const payload = handle.payload.parse(envelope.payload)
    const key = spec.oneAtATimePer?.(payload as never)
    return {
      // As the database writes it, whose answer tells which are queued.
      id: (id ?? newId(clock.ms())).toLowerCase(),
      name,
      data: { ...envelope, payload },
      delaySeconds: at ? (at.getTime() - clock.ms()) / 1000 : afterSeconds,
      key: key === undefined ? null : `${envelope.storeId ?? ''}:${key}`,
      priority: 0,
      deletionSeconds: null,
    }
  }

  return {
    boss,
    async send({ name }, envelope, { transaction = null, ...given } = {}) {
      const trace = currentTrace()
      const one = rowOf(name, { ...envelope, ...(trace ? { trace } : {}) }, given)
      const [jobId] = await insertOrJoin(asking(database, transaction), [one])
      if (transaction && envelope.storeId !== null && isDistributed) {
        await announce(transaction, envelope.storeId, jobId!)
      }
      for (const listener of listeners) listener()
      return jobId!
    },
    async sendClocked(handles, transaction) {
      const rows = handles.map(({ name }) =>
        rowOf(name, { storeId: null, userId: null, requestId: `clock-${name}`, payload: {} }),
      )
      await insertOrJoin(asking(database, transaction), rows)
      for (const listener of listeners) listener()
    },
    async sendInBackground({ name }, envelopes) {
      if (envelopes.length === 0) return
      const rows = envelopes.map((envelope) => ({
        ...rowOf(name, envelope),
        priority: backgroundPriority,
        deletionSeconds: keepBackgroundSeconds,
      }))
      const queued = await insert(alone, rows)
      const keys = rows.flatMap(({ key }) => key ?? [])
      const isRefused = rows.some(({ id, key }) => key === null && !queued.has(id))
      if (isRefused) throw new Error(`${name} was not queued: the queue refused it`)
      if (queued.size < rows.length) await hasten(alone, name, keys)
      unlearned += queued.size
      if (unlearned >= learnsOfEach) {
        unlearned = 0
        await database.patient.query('analyze pgboss.job_common', [])
      }
      for (const listener of listeners) listener()
    },
    due: (names, orUnfinished = false) =>
      database.query<DueQueue>(dueQueues, [names, orUnfinished, putBackAtMostSeconds], 'once'),
    async unfinished(names) {
      const [row] = await database.query<{ jobs: number }>(unfinishedJobs, [names, putBackAtMostSeconds])
      return row!.jobs
    },
    async fetch(wanted, inAll, which) {
      const lowest = which === 'awaited' ? 0 : lowestPriority
      // Not among the statements of jobs, which may take long.
      const jobs = await database.query<FetchedJob>(claim, [
        wanted.map(({ name }) => name),
        wanted.map(({ atMost }) => atMost),
        inAll,
        lowest,
      ])
      // Of a server's sessions one may claim what another has not seen yet: only a second look tells.
      return database.pglite ? jobs : jobs.map((job) => ({ ...job, mayBeBehind: job.singletonKey !== null }))
    },
    complete: (name, { id, retryCount, begunAt }) => completed.ask({ name, id, retryCount, begunAt }),
    async fail(name, run, reason) {
      // pg-boss goes by the tries alone. Touched just now, it is nobody else's before that is done.
      if (!(await touch(name, run))) return
      const { id, retryCount } = run
      // Its column takes no zero and no half of a character.
      await boss.fail(name, { id, retryCount }, { message: reason.toWellFormed().replaceAll('\0', '') })
    },
    touch,
    handBack: (name, run) => postpone(name, run, 0),
    postpone,
    async behindAnother(runs) {
      if (runs.length === 0) return []
      const rows = await database.query<{ id: string }>(behindOthers, [
        runs.map(({ name }) => name),
        runs.map(({ id }) => id),
      ])
      return rows.map(({ id }) => id)
    },
    async bringForward(storeId, transaction = null) {
      const query = `update pgboss.job set start_after = now()
         where state = 'retry' and started_on is null and start_after > now()
           and ($1::text is null or data ->> 'storeId' = $1)`
      if (transaction) await transaction.executeQuery(CompiledQuery.raw(query, [storeId]))
      else await database.query(query, [storeId])
      for (const listener of listeners) listener()
    },
    async waitForProvider(name, run, seconds) {
      const { id, retryCount, begunAt, singletonKey } = run
      if (singletonKey) {
        const others = await database.query(
          `select 1 from pgboss.job where name = $1 and singleton_key = $2 and state < 'active' and id <> $3 limit 1`,
          [name, singletonKey, id],
        )
        if (others.length > 0) {
          await completed.ask({ name, id, retryCount, begunAt })
          return
        }
      }
      await postpone(name, run, seconds)
    },
    async advance(milliseconds, { keepDue = false } = {}) {
      await database.query(
        `update pgboss.job set start_after = start_after - $1::float8 * interval '1 millisecond'
         where state < 'active' and (not $2::boolean or start_after > now())`,
        [milliseconds, keepDue],
      )
    },
    onSent(listener) {
      listeners.push(listener)
    },
    counts: () =>
      database.query(
        `select name, state::text as state, count(*)::int as jobs,
           extract(epoch from now() - min(start_after)
             filter (where state in ('created', 'retry') and start_after <= now()))::float8 as "lagSeconds"
         from pgboss.job group by name, state`,
        [],
      ),
    stop: () => boss.stop({ graceful: false, close: false }),
  }

  async function touch(name: string, { id, retryCount, begunAt }: Run): Promise<boolean> {
    return (await database.query(touchRun, [name, id, retryCount, begunAt])).length > 0
  }

  async function postpone(name: string, { id, retryCount, begunAt }: Run, seconds: number): Promise<void> {
    await database.query(putBackRun, [name, id, retryCount, begunAt, seconds])
  }
}
