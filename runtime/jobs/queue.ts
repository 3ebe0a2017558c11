/** The queue of background jobs, built on pg-boss: queues jobs in the caller's transaction, claims them, records results. */
import type { Transaction } from 'kysely'
import { type Db, fromKysely, type JobInsert, type JobWithMetadata, PgBoss } from 'pg-boss'
import { forceDistributedCommit } from '#db/citus/commits'
import { acquireBarrier } from '#db/citus/visibility-barrier'
import type { Database } from '#db/database'
import { jobGraceMs } from '#db/deadlines'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { BatchLoader } from '#runtime/gateway/batch-loader'
import type { z } from '#runtime/schema'
import { currentTrace } from '#runtime/trace'
import { newId } from '#runtime/values/ids'
import {
  bossDatabase,
  createQueues,
  failedQueue,
  type QueueClass,
  type QueueName,
  queueClasses,
  queueNames,
  requestDatabase,
} from './boss.ts'
import type { Handle, QueuedJob } from './handle.ts'
import { moveOldJobs } from './old-queues.ts'
import { type Data, type Envelope, type FetchedJob, toFetchedJob, toSingletonKey } from './rows.ts'
import { backlogs, runningJobs, waitingByKeys } from './statements.ts'

export interface QueueOptions {
  /** The job becomes due at this instant of the clock. */
  at?: Date
  afterSeconds?: number
  /** The job's id, if the caller stores it in a row before; default: a new id. */
  id?: string
  transaction?: Transaction<Tables> | null
  /** Runs a function after the commit of `transaction`: workers cannot see the job before. */
  afterCommit?(act: () => void): unknown
}

interface Backlog {
  queue: QueueName
  waiting: number
  due: number
  /** Jobs that were requeued and become due within a few seconds. */
  requeued: number
  running: number
  lagSeconds: number | null
}

interface JobState {
  id: string
  name: string
  state: JobWithMetadata['state']
}

export interface Queue {
  readonly boss: PgBoss
  /**
   * Queues the handle's job. Returns its id; if a job with the same key is waiting already, returns that job's id. The
   * queue must have been opened with this job.
   */
  send<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    envelope: Envelope<z.input<P>>,
    options?: QueueOptions,
  ): Promise<string>
  /** Queues due server jobs, all in one statement. */
  sendServerJobs(handles: readonly Handle[], transaction: Transaction<Tables>): Promise<void>
  /** Queues the scheduled jobs of many stores, except those with a key for which a job is waiting already. */
  sendScheduled<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    envelopes: readonly Envelope<z.input<P>>[],
  ): Promise<void>
  /** Claims at most `atMost` due jobs. Over all workers, at most `perStore` jobs of a store run at the same time. */
  fetch(queue: QueueName, atMost: number, perStore?: number): Promise<FetchedJob[]>
  /** The ids of those jobs that must wait because another running job has the same key. */
  findBlocked(jobs: readonly FetchedJob[]): Promise<Set<string>>
  /** Records a result. Ignored if the attempt is not this worker's any longer; the same holds for `fail`. */
  complete(job: FetchedJob): Promise<void>
  fail(job: FetchedJob, reason: string): Promise<void>
  /** Sends heartbeats of running jobs; returns the ids of those that are not this worker's any longer. */
  touch(jobs: readonly FetchedJob[]): Promise<string[]>
  /** Requeues a running job without counting the attempt. With `waits: 'provider'`, `resumeWaiting` ends the delay early. */
  requeue(job: FetchedJob, seconds: number, waits?: 'provider'): Promise<void>
  /** Requeues all running jobs. Called only at the start of a database's only process: they belong to a dead one. */
  requeueAll(): Promise<void>
  /** Makes jobs that wait for a provider due now; `storeId` null: those of all stores. */
  resumeWaiting(storeId: string | null, transaction?: Transaction<Tables> | null): Promise<void>
  /** Makes waiting jobs due earlier; a negative time delays them. `keepDue`: except those that are due now. */
  advance(milliseconds: number, options?: { keepDue?: boolean }): Promise<void>
  backlog(queues?: readonly QueueName[]): Promise<Backlog[]>
  /** Whether the job waits or runs. */
  isUnfinished(handle: Handle, jobId: string): Promise<boolean>
  /** All jobs of a store that are still stored, including finished ones. */
  listJobs(storeId: string): Promise<JobState[]>
  /** Takes over waiting jobs of old releases; see `old-queues.ts`. */
  moveOldJobs(unseen?: boolean): Promise<void>
  /** Adds a listener for jobs queued in this process. */
  onSent(listener: (queue: QueueName) => void): void
  stop(): Promise<void>
}

/** A requeued job that becomes due within so many seconds counts as `requeued` in the backlog. */
const requeuedWithinSeconds = 5
const keepSeconds = 3 * 24 * 3600
/** Retention of finished scheduled jobs. It is short: thousands of stores have them many times an hour. */
const keepScheduledSeconds = 600
/** Interval of deleting expired jobs: with pg-boss's default of a day, millions of them would accumulate. */
const deletesEverySeconds = 300
/** How long after a job's timeout pg-boss gives it to another worker if the first one has not ended it. */
const lateSeconds = (2 * jobGraceMs) / 1000

/** Connects; creates the schema of pg-boss and the queues if they are missing. */
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
  await createQueues(boss)
  // Checked now: within a transaction, `send` must not need a second connection.
  const isDistributed = await database.isDistributed()

  const quick = requestDatabase(database)
  const within = (transaction: Transaction<Tables> | null): Db =>
    transaction ? fromKysely(transaction) : quick
  const runQuery = async <Row>(db: Db, text: string, values: unknown[]): Promise<Row[]> =>
    (await db.executeSql(text, values)).rows
  const byName = new Map(jobs.map((job) => [job.name, job]))
  const getJob = (name: string): QueuedJob => {
    const job = byName.get(name)
    if (!job) throw new Error(`No job takes the handle ${name}: write jobs/${name}.ts, or queue another`)
    return job
  }
  const listeners: ((queue: QueueName) => void)[] = []
  const notifyListeners = (queue: QueueName): void => {
    for (const listener of listeners) listener(queue)
  }

  /** Builds the row of a job. At most one job per `singletonKey` waits; a job without a key uses its own id. */
  const buildRow = (name: string, envelope: Envelope, { id, at, afterSeconds = 0 }: QueueOptions = {}) => {
    const { handle, spec } = getJob(name)
    const payload = handle.payload.parse(envelope.payload)
    const key = spec.oneAtATimePer?.(payload as never)
    // In lower case, as the database returns the ids of the rows that it inserted.
    const jobId = (id ?? newId(clock.ms())).toLowerCase()
    const seconds = at ? (at.getTime() - clock.ms()) / 1000 : afterSeconds
    return {
      id: jobId,
      data: { ...envelope, payload, job: name } satisfies Data,
      singletonKey: key === undefined ? jobId : toSingletonKey(name, envelope, key),
      // The group limits the running jobs of a store; a job without a store is a group of its own.
      group: { id: envelope.storeId ?? jobId },
      startAfter: interval(seconds),
      retryLimit: spec.retry.limit,
      retryDelay: spec.retry.backoffSeconds,
      retryBackoff: true,
      // The worker ends the job a little earlier; this limit is for a worker that hangs.
      expireInSeconds: spec.timeoutSeconds + lateSeconds,
      deleteAfterSeconds: spec.everySeconds ? 3600 : keepSeconds,
    } satisfies JobInsert<Data>
  }

  const insert = async (db: Db, queue: QueueName, rows: JobInsert[]): Promise<Set<string>> =>
    new Set(await boss.insert(queue, rows, { db, returnId: true }))

  /** Returns the job's id, or that of the waiting job with its key, which then becomes due no later than this one. */
  async function insertOrJoin(db: Db, queue: QueueName, row: JobInsert): Promise<string> {
    // A worker may claim the waiting job between the two statements: then the next insert succeeds.
    for (let looks = 0; looks < 3; looks += 1) {
      if ((await insert(db, queue, [row])).size > 0) return row.id!
      const waiting = await expedite(db, queue, [row.singletonKey!], row.startAfter as number)
      if (waiting.length > 0) return waiting[0]!
    }
    throw new Error(`A job was not queued: ${queue} refused it`)
  }

  /** Makes waiting jobs with these keys due in `seconds` at the latest; returns their ids. */
  async function expedite(db: Db, queue: QueueName, keys: string[], seconds: number): Promise<string[]> {
    const waiting = await runQuery<{ id: string; jobId: string; isLater: boolean }>(db, waitingByKeys, [
      queue,
      keys,
      seconds,
    ])
    for (const { id, isLater } of waiting) {
      if (isLater) await boss.update(queue, undefined, { id, startAfter: seconds, db })
    }
    return waiting.map(({ jobId }) => jobId)
  }

  /** Completes jobs that end at about the same time with one statement. */
  const completed = new BatchLoader<FetchedJob, void>(
    async (ended) => {
      for (const [of, some] of Map.groupBy(ended, (job) => job.queue)) {
        await boss.complete(of, some, null, { db: quick })
      }
      return ended.map(() => undefined)
    },
    ({ id }) => id,
  )

  /** Yields the waiting jobs of all queues whose data contains `data`. */
  async function* waitingJobs(
    db: Db,
    data: Partial<Data> = {},
  ): AsyncGenerator<[QueueName, JobWithMetadata]> {
    for (const queue of queueNames) {
      for (const job of await boss.findJobs<object>(queue, { queued: true, data, db })) yield [queue, job]
    }
  }

  const queue: Queue = {
    boss,
    async send({ name }, envelope, { transaction = null, afterCommit, ...given } = {}) {
      const trace = currentTrace()
      const row = buildRow(name, { ...envelope, ...(trace ? { trace } : {}) }, given)
      const of = getClass(getJob(name))
      const jobId = await insertOrJoin(within(transaction), of, row)
      if (transaction && envelope.storeId !== null && isDistributed) {
        await acquireBarrier(transaction, envelope.storeId, jobId)
      }
      notifyListeners(of)
      await afterCommit?.(() => notifyListeners(of))
      return jobId
    },
    async sendServerJobs(handles, transaction) {
      const rows = handles.map(({ name }) =>
        buildRow(name, { storeId: null, userId: null, requestId: `clock-${name}`, payload: {} }),
      )
      const db = within(transaction)
      const queued = await insert(db, 'maintenance', rows)
      for (const row of rows) if (!queued.has(row.id)) await insertOrJoin(db, 'maintenance', row)
      notifyListeners('maintenance')
    },
    async sendScheduled({ name }, envelopes) {
      if (envelopes.length === 0) return
      const rows = envelopes.map((envelope) => ({
        ...buildRow(name, envelope),
        deleteAfterSeconds: keepScheduledSeconds,
      }))
      const queued = await insert(quick, 'scheduled', rows)
      const refused = rows.filter(({ id }) => !queued.has(id)).map(({ singletonKey }) => singletonKey)
      if (refused.length > 0) await expedite(quick, 'scheduled', refused, 0)
      notifyListeners('scheduled')
    },
    async fetch(of, atMost, perStore) {
      const fetched = await boss.fetch<Data>(of, {
        batchSize: atMost,
        includeMetadata: true,
        ...(perStore === undefined ? {} : { groupConcurrency: perStore }),
        db: quick,
      })
      return fetched.map((job) => toFetchedJob(of, job))
    },
    async findBlocked(of) {
      const keyed = of.filter(({ key }) => key !== null)
      if (keyed.length === 0) return new Set()
      // Two workers may claim jobs with the same key at once, unseen by each other: this second query detects it.
      const running = await runQuery<{ id: string; key: string }>(quick, runningJobs, [queueClasses])
      const mine = new Set(keyed.map(({ id }) => id))
      const first = new Map<string, string>()
      // Another worker's job takes precedence: that worker may have checked before our claims were visible.
      for (const { id, key } of running) {
        const before = first.get(key)
        if (before === undefined || (mine.has(before) && !mine.has(id))) first.set(key, id)
      }
      return new Set(keyed.filter(({ id, key }) => (first.get(key!) ?? id) !== id).map(({ id }) => id))
    },
    complete: (job) => completed.load(job),
    async fail(job, reason) {
      // A text column cannot store NUL or lone surrogates.
      const message = reason.toWellFormed().replaceAll('\0', '')
      await boss.fail(job.queue, job, { message }, { db: quick })
    },
    async touch(of) {
      const lost: string[] = []
      for (const name of queueNames) {
        const mine = of.filter((job) => job.queue === name)
        if (mine.length === 0) continue
        if (countAffected(await boss.touch(name, mine, { db: quick })) === mine.length) continue
        for (const job of mine) {
          if (countAffected(await boss.touch(name, job, { db: quick })) === 0) lost.push(job.id)
        }
      }
      return lost
    },
    async requeue(job, seconds, waits) {
      await database.root.transaction().execute(async (transaction) => {
        const db = fromKysely(transaction)
        const { waits: before, ...data } = job.data as Data
        const [left] = await boss.findJobs<Data>(job.queue, { id: job.id, db })
        if (!left || countAffected(await boss.deleteJob(job.queue, job, { db })) === 0) return
        const id = newId(clock.ms())
        await insertOrJoin(db, job.queue, {
          id,
          data: {
            ...data,
            job: job.name,
            jobId: job.jobId,
            // It still waits if it was requeued before it ran to its end.
            ...((waits ?? before) && { waits: waits ?? before }),
            ...(job.reason && { reason: job.reason }),
          },
          singletonKey: job.key ?? id,
          group: { id: data.storeId ?? id },
          startAfter: interval(seconds),
          retryLimit: Math.max(0, job.retryLimit - job.retryCount),
          retryDelay: left.retryDelay,
          retryBackoff: left.retryBackoff,
          expireInSeconds: left.expireInSeconds,
          deleteAfterSeconds: left.deleteAfterSeconds,
        })
      })
    },
    async requeueAll() {
      const running = await runQuery<{ queue: QueueName; id: string }>(quick, runningJobs, [queueNames])
      for (const { queue: of, id } of running) {
        const [job] = await boss.findJobs<Data>(of, { id, db: quick })
        if (job) await queue.requeue(toFetchedJob(of, job), 0)
      }
    },
    async resumeWaiting(storeId, transaction = null) {
      const db = within(transaction)
      if (transaction && isDistributed) await forceDistributedCommit(transaction)
      const which: Partial<Data> = { waits: 'provider', ...(storeId === null ? {} : { storeId }) }
      for await (const [of, { id }] of waitingJobs(db, which)) {
        await boss.update(of, undefined, { id, startAfter: 0, db })
        notifyListeners(of)
      }
    },
    async advance(milliseconds, { keepDue = false } = {}) {
      for await (const [of, { id, startAfter }] of waitingJobs(quick)) {
        // biome-ignore lint/nursery/noJsRestrictedProperties: pg-boss dates its jobs by the database's own clock
        const isDue = startAfter.getTime() <= Date.now()
        if (isDue && (keepDue || milliseconds > 0)) continue
        const at = new Date(startAfter.getTime() - milliseconds)
        await boss.update(of, undefined, { id, startAfter: at, db: quick })
      }
    },
    backlog: (of = queueNames) => runQuery(quick, backlogs, [of, requeuedWithinSeconds]),
    async isUnfinished({ name }, jobId) {
      const of = getClass(getJob(name))
      const [job] = await boss.findJobs(of, { id: jobId, db: quick })
      // A requeued job has a new row id, with the original one in its data.
      const found = job ? [job] : await boss.findJobs(of, { data: { jobId }, db: quick })
      return found.some(({ state }) => ['created', 'retry', 'active'].includes(state))
    },
    async listJobs(storeId) {
      const found: JobState[] = []
      for (const name of queueNames) {
        for (const job of await boss.findJobs<Data>(name, { data: { storeId }, db: quick })) {
          const { jobId, name: of } = toFetchedJob(name, job)
          found.push({ id: jobId, name: name === failedQueue ? name : of, state: job.state })
        }
      }
      return found
    },
    moveOldJobs: (unseen = false) =>
      moveOldJobs(
        boss,
        database.root,
        unseen,
        (name) => byName.has(name),
        async (db, old) => {
          const of = old.priority < 0 ? 'scheduled' : getClass(getJob(old.name))
          const row = buildRow(old.name, old.data as Envelope, { id: old.id })
          const retryLimit = Math.max(0, old.retryLimit - old.retryCount)
          // biome-ignore lint/nursery/noJsRestrictedProperties: pg-boss dates its jobs by the database's own clock
          const startAfter = interval((old.startAfter.getTime() - Date.now()) / 1000)
          await insertOrJoin(db, of, { ...row, startAfter, retryLimit })
          notifyListeners(of)
        },
      ),
    onSent(listener) {
      listeners.push(listener)
    },
    stop: () => boss.stop({ graceful: false, close: false }),
  }
  return queue
}

const getClass = ({ spec }: QueuedJob): QueueClass =>
  spec.everySeconds ? 'maintenance' : spec.isBulk ? 'bulk' : 'interactive'

/** Seconds in a form that PostgreSQL parses as an interval: not negative, in whole milliseconds. */
const interval = (seconds: number): number => Math.max(0, Math.round(seconds * 1000) / 1000)

/** The number of affected jobs, which pg-boss returns but does not declare. */
const countAffected = (response: object): number => (response as { affected: number }).affected
