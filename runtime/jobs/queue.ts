/** Background jobs on pg-boss: sent within the caller's transaction, claimed, and settled. */
import type { Transaction } from 'kysely'
import { type Db, fromKysely, type JobInsert, type JobWithMetadata, PgBoss } from 'pg-boss'
import { commitTogether } from '#db/citus/commits'
import { announce } from '#db/citus/settled'
import type { Database } from '#db/database'
import { jobGraceMs } from '#db/deadlines'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { Gathered } from '#runtime/gateway/gathered'
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
  quickDatabase,
} from './boss.ts'
import type { Handle, QueuedJob } from './handle.ts'
import { moveOldJobs } from './old-queues.ts'
import { type Data, type Envelope, type FetchedJob, fetchedJob, keyOf } from './rows.ts'
import { backlogs, runningJobs, waitingOfKeys } from './statements.ts'

export interface QueueOptions {
  /** Not before this instant of the clock. */
  at?: Date
  afterSeconds?: number
  /** For a row that must carry the job's id; default a new one. */
  id?: string
  transaction?: Transaction<Tables> | null
  /** Does something once the transaction is committed: whoever looks for the job before finds nothing. */
  afterCommit?(act: () => void): unknown
}

interface Backlog {
  queue: QueueName
  waiting: number
  due: number
  /** Put back, and due in a moment. */
  putBack: number
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
  /** To the job that takes the handle: one of those that the queue was opened with. Answers its id, or of one that waits. */
  send<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    envelope: Envelope<z.input<P>>,
    options?: QueueOptions,
  ): Promise<string>
  /** What the server's own clock has due, of many jobs in one statement. */
  sendClocked(handles: readonly Handle[], transaction: Transaction<Tables>): Promise<void>
  /** Many at once, as the clock queues them for stores. Of a key one waits. */
  sendScheduled<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    envelopes: readonly Envelope<z.input<P>>[],
  ): Promise<void>
  /** Claims what is due, at most so many, and of one store so many at once over all workers. */
  fetch(queue: QueueName, atMost: number, perStore?: number): Promise<FetchedJob[]>
  /** The ids of those before which another of their key began to run. */
  behindAnother(jobs: readonly FetchedJob[]): Promise<Set<string>>
  /** What is said of an attempt that is this worker's no longer changes nothing. */
  complete(job: FetchedJob): Promise<void>
  fail(job: FetchedJob, reason: string): Promise<void>
  /** Says that running jobs are alive; answers the ids of those that are this worker's no longer. */
  touch(jobs: readonly FetchedJob[]): Promise<string[]>
  /** Puts a running job back for so long, its tries uncounted. `provider`: `bringForward` ends that. */
  putBack(job: FetchedJob, seconds: number, waits?: 'provider'): Promise<void>
  /** Puts back whatever runs: for the only process of a database, before it runs anything. */
  putBackAll(): Promise<void>
  /** Jobs of a store, or of all, that wait for a provider are due. */
  bringForward(storeId: string | null, transaction?: Transaction<Tables> | null): Promise<void>
  /** Brings waiting jobs forward, as if that time had passed; a negative time puts them off, but for those due now (`keepDue`). */
  advance(milliseconds: number, options?: { keepDue?: boolean }): Promise<void>
  backlog(queues?: readonly QueueName[]): Promise<Backlog[]>
  /** Whether the job waits or runs. */
  isUnfinished(handle: Handle, jobId: string): Promise<boolean>
  /** All that is kept of a store. */
  jobsOf(storeId: string): Promise<JobState[]>
  /** Takes over what waits in the queues of releases that had one for each job. `unseen`: also where counts tell of none. */
  moveOldJobs(unseen?: boolean): Promise<void>
  /** Tells what listens in this process that something was queued. */
  onSent(listener: (queue: QueueName) => void): void
  stop(): Promise<void>
}

/** How soon after it was put back a job counts as unfinished. */
const putBackAtMostSeconds = 5
const keepSeconds = 3 * 24 * 3600
/** What the clock queued for thousands of stores, many times an hour: nobody asks for it once it is done. */
const keepScheduledSeconds = 600
/** How often those that were kept long enough are deleted: once a day, as pg-boss would, there are millions of them. */
const deletesEverySeconds = 300
/** So long after its time a job is taken from a worker that has not ended it. */
const lateSeconds = (2 * jobGraceMs) / 1000

/** Connects, creating the schema of pg-boss and the queues where they are missing. */
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
  // Here, where nobody holds a connection: a send within a transaction must not ask for another.
  const isDistributed = await database.isDistributed()

  const quick = quickDatabase(database)
  const within = (transaction: Transaction<Tables> | null): Db =>
    transaction ? fromKysely(transaction) : quick
  const ask = async <Row>(db: Db, text: string, values: unknown[]): Promise<Row[]> =>
    (await db.executeSql(text, values)).rows
  const byName = new Map(jobs.map((job) => [job.name, job]))
  const jobOf = (name: string): QueuedJob => {
    const job = byName.get(name)
    if (!job) throw new Error(`No job takes the handle ${name}: write jobs/${name}.ts, or queue another`)
    return job
  }
  const listeners: ((queue: QueueName) => void)[] = []
  const sent = (queue: QueueName): void => {
    for (const listener of listeners) listener(queue)
  }

  /** As it is queued; of a key one waits, and what has none is its own. */
  const jobFor = (name: string, envelope: Envelope, { id, at, afterSeconds = 0 }: QueueOptions = {}) => {
    const { handle, spec } = jobOf(name)
    const payload = handle.payload.parse(envelope.payload)
    const key = spec.oneAtATimePer?.(payload as never)
    // As the database writes it, whose answer tells which are queued.
    const jobId = (id ?? newId(clock.ms())).toLowerCase()
    const seconds = at ? (at.getTime() - clock.ms()) / 1000 : afterSeconds
    return {
      id: jobId,
      data: { ...envelope, payload, job: name } satisfies Data,
      singletonKey: key === undefined ? jobId : keyOf(name, envelope, key),
      // What is of no store is held up by none.
      group: { id: envelope.storeId ?? jobId },
      startAfter: interval(seconds),
      retryLimit: spec.retry.limit,
      retryDelay: spec.retry.backoffSeconds,
      retryBackoff: true,
      // The worker ends it by itself, a little before: this is for one that cannot.
      expireInSeconds: spec.timeoutSeconds + lateSeconds,
      deleteAfterSeconds: spec.everySeconds ? 3600 : keepSeconds,
    } satisfies JobInsert<Data>
  }

  const insert = async (db: Db, queue: QueueName, rows: JobInsert[]): Promise<Set<string>> =>
    new Set(await boss.insert(queue, rows, { db, returnId: true }))

  /** The job's id, or of the one of its key that waits: no longer than this one would. */
  async function insertOrJoin(db: Db, queue: QueueName, row: JobInsert): Promise<string> {
    // What waits may be taken up by a worker between the two looks: then there is room for another.
    for (let looks = 0; looks < 3; looks += 1) {
      if ((await insert(db, queue, [row])).size > 0) return row.id!
      const waiting = await hasten(db, queue, [row.singletonKey!], row.startAfter as number)
      if (waiting.length > 0) return waiting[0]!
    }
    throw new Error(`A job was not queued: ${queue} refused it`)
  }

  /** Those of these keys that wait, none of them for longer than so many seconds; answers their ids. */
  async function hasten(db: Db, queue: QueueName, keys: string[], seconds: number): Promise<string[]> {
    const waiting = await ask<{ id: string; jobId: string; isLater: boolean }>(db, waitingOfKeys, [
      queue,
      keys,
      seconds,
    ])
    for (const { id, isLater } of waiting) {
      if (isLater) await boss.update(queue, undefined, { id, startAfter: seconds, db })
    }
    return waiting.map(({ jobId }) => jobId)
  }

  /** Those that end together are written together. */
  const completed = new Gathered<FetchedJob, void>(
    async (ended) => {
      for (const [of, some] of Map.groupBy(ended, (job) => job.queue)) {
        await boss.complete(of, some, null, { db: quick })
      }
      return ended.map(() => undefined)
    },
    ({ id }) => id,
  )

  /** Each that waits in these queues, where it is what is asked for. */
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
      const row = jobFor(name, { ...envelope, ...(trace ? { trace } : {}) }, given)
      const of = classOf(jobOf(name))
      const jobId = await insertOrJoin(within(transaction), of, row)
      if (transaction && envelope.storeId !== null && isDistributed) {
        await announce(transaction, envelope.storeId, jobId)
      }
      sent(of)
      await afterCommit?.(() => sent(of))
      return jobId
    },
    async sendClocked(handles, transaction) {
      const rows = handles.map(({ name }) =>
        jobFor(name, { storeId: null, userId: null, requestId: `clock-${name}`, payload: {} }),
      )
      const db = within(transaction)
      const queued = await insert(db, 'maintenance', rows)
      for (const row of rows) if (!queued.has(row.id)) await insertOrJoin(db, 'maintenance', row)
      sent('maintenance')
    },
    async sendScheduled({ name }, envelopes) {
      if (envelopes.length === 0) return
      const rows = envelopes.map((envelope) => ({
        ...jobFor(name, envelope),
        deleteAfterSeconds: keepScheduledSeconds,
      }))
      const queued = await insert(quick, 'scheduled', rows)
      const refused = rows.filter(({ id }) => !queued.has(id)).map(({ singletonKey }) => singletonKey)
      if (refused.length > 0) await hasten(quick, 'scheduled', refused, 0)
      sent('scheduled')
    },
    async fetch(of, atMost, perStore) {
      const fetched = await boss.fetch<Data>(of, {
        batchSize: atMost,
        includeMetadata: true,
        ...(perStore === undefined ? {} : { groupConcurrency: perStore }),
        db: quick,
      })
      return fetched.map((job) => fetchedJob(of, job))
    },
    async behindAnother(of) {
      const keyed = of.filter(({ key }) => key !== null)
      if (keyed.length === 0) return new Set()
      // Of a server's sessions one may claim what another has not seen yet: only a second look tells.
      const running = await ask<{ id: string; key: string }>(quick, runningJobs, [queueClasses])
      const mine = new Set(keyed.map(({ id }) => id))
      const first = new Map<string, string>()
      // Another's comes first, whenever it says that it began: it may have looked before these could be seen.
      for (const { id, key } of running) {
        const before = first.get(key)
        if (before === undefined || (mine.has(before) && !mine.has(id))) first.set(key, id)
      }
      return new Set(keyed.filter(({ id, key }) => (first.get(key!) ?? id) !== id).map(({ id }) => id))
    },
    complete: (job) => completed.ask(job),
    async fail(job, reason) {
      // A column of text takes no zero and no half of a character.
      const message = reason.toWellFormed().replaceAll('\0', '')
      await boss.fail(job.queue, job, { message }, { db: quick })
    },
    async touch(of) {
      const lost: string[] = []
      for (const name of queueNames) {
        const mine = of.filter((job) => job.queue === name)
        if (mine.length === 0) continue
        if (affected(await boss.touch(name, mine, { db: quick })) === mine.length) continue
        for (const job of mine) {
          if (affected(await boss.touch(name, job, { db: quick })) === 0) lost.push(job.id)
        }
      }
      return lost
    },
    async putBack(job, seconds, waits) {
      await database.root.transaction().execute(async (transaction) => {
        const db = fromKysely(transaction)
        const { waits: _before, ...data } = job.data as Data
        const [left] = await boss.findJobs<Data>(job.queue, { id: job.id, db })
        if (!left || affected(await boss.deleteJob(job.queue, job, { db })) === 0) return
        const id = newId(clock.ms())
        await insertOrJoin(db, job.queue, {
          id,
          data: {
            ...data,
            job: job.name,
            jobId: job.jobId,
            ...(waits && { waits }),
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
    async putBackAll() {
      const running = await ask<{ queue: QueueName; id: string }>(quick, runningJobs, [queueNames])
      for (const { queue: of, id } of running) {
        const [job] = await boss.findJobs<Data>(of, { id, db: quick })
        if (job) await queue.putBack(fetchedJob(of, job), 0)
      }
    },
    async bringForward(storeId, transaction = null) {
      const db = within(transaction)
      if (transaction && isDistributed) await commitTogether(transaction)
      const which: Partial<Data> = { waits: 'provider', ...(storeId === null ? {} : { storeId }) }
      for await (const [of, { id }] of waitingJobs(db, which)) {
        await boss.update(of, undefined, { id, startAfter: 0, db })
        sent(of)
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
    backlog: (of = queueNames) => ask(quick, backlogs, [of, putBackAtMostSeconds]),
    async isUnfinished({ name }, jobId) {
      const of = classOf(jobOf(name))
      const [job] = await boss.findJobs(of, { id: jobId, db: quick })
      // It was put back, or is gone.
      const found = job ? [job] : await boss.findJobs(of, { data: { jobId }, db: quick })
      return found.some(({ state }) => ['created', 'retry', 'active'].includes(state))
    },
    async jobsOf(storeId) {
      const found: JobState[] = []
      for (const name of queueNames) {
        for (const job of await boss.findJobs<Data>(name, { data: { storeId }, db: quick })) {
          const { jobId, name: of } = fetchedJob(name, job)
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
          const of = old.priority < 0 ? 'scheduled' : classOf(jobOf(old.name))
          const row = jobFor(old.name, old.data as Envelope, { id: old.id })
          const retryLimit = Math.max(0, old.retryLimit - old.retryCount)
          // biome-ignore lint/nursery/noJsRestrictedProperties: pg-boss dates its jobs by the database's own clock
          const startAfter = interval((old.startAfter.getTime() - Date.now()) / 1000)
          await insertOrJoin(db, of, { ...row, startAfter, retryLimit })
          sent(of)
        },
      ),
    onSent(listener) {
      listeners.push(listener)
    },
    stop: () => boss.stop({ graceful: false, close: false }),
  }
  return queue
}

const classOf = ({ spec }: QueuedJob): QueueClass =>
  spec.everySeconds ? 'maintenance' : spec.isBulk ? 'bulk' : 'interactive'

/** Seconds, as PostgreSQL reads an interval: never in the past, no smaller part than a millisecond. */
const interval = (seconds: number): number => Math.max(0, Math.round(seconds * 1000) / 1000)

/** Of how many jobs it was so. pg-boss answers it, and leaves it out of its types. */
const affected = (response: object): number => (response as { affected: number }).affected
