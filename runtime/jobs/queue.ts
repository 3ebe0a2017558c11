/** Background jobs on pg-boss: queues made from the job files, sends inside the caller's transaction. */
import { CompiledQuery, type Transaction } from 'kysely'
import { type ConstructorOptions, fromKysely, fromPglite, PgBoss } from 'pg-boss'
import type { Database } from '#db/database'
import { jobGraceMs } from '#db/deadlines'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import type { z } from '#runtime/schema'
import { newId } from '#runtime/values/ids'
import type { Handle, QueuedJob } from './handle.ts'

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
}

export interface FetchedJob {
  id: string
  data: Envelope
  retryCount: number
  retryLimit: number
  /** Of a job that runs one at a time. */
  singletonKey: string | null
  /** Of what lies in `failedQueue`: the job that was given up. */
  sourceName: string | null
  sourceId: string | null
  sourceOutput: unknown
}

export interface Queue {
  readonly boss: PgBoss
  /** To the job that takes the handle: one of those that the queue was opened with. */
  send<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    envelope: Envelope<z.input<P>>,
    options?: QueueOptions,
  ): Promise<string>
  /** Names of the queues with a job that is due. */
  due(names: readonly string[]): Promise<string[]>
  /** How many jobs are due, claimed by whichever process, or put back by one for a moment. In one look. */
  unfinished(names: readonly string[]): Promise<number>
  fetch(name: string, atMost: number): Promise<FetchedJob[]>
  complete(name: string, job: { id: string; retryCount: number }): Promise<void>
  fail(name: string, job: { id: string; retryCount: number }, reason: string): Promise<void>
  /** Says that a running job is alive; false where it is this run's no longer. */
  touch(name: string, job: { id: string; retryCount: number }): Promise<boolean>
  /** Puts a running job back as it was, its tries uncounted. */
  handBack(id: string): Promise<void>
  /** Whether another job of this key began to run before this one. */
  isBehindAnother(name: string, job: { id: string; singletonKey: string }): Promise<boolean>
  /** Puts a running job back to wait a while, its tries uncounted. */
  postpone(id: string, seconds: number): Promise<void>
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
  /** Jobs by queue and state, for the metrics. */
  counts(): Promise<{ name: string; state: string; jobs: number }[]>
  stop(): Promise<void>
}

/** A running job that says nothing for so long belongs to a dead worker. */
export const heartbeatSeconds = 20
/** So long after its time a job is taken from a worker that has not ended it. */
const lateSeconds = (2 * jobGraceMs) / 1000
/**
 * Where what was given up is put, in the statement that gives it up: by the worker that ran it, or by who noticed that
 * the worker is gone. So its `failed` is called whoever ran it, and again until it succeeds.
 */
export const failedQueue = 'failed-jobs'
/** Who is behind another of its key waits no longer than this before it looks again. */
const putBackAtMostSeconds = 5
const keepSeconds = 3 * 24 * 3600
const jobsRetainedSeconds = 400 * 24 * 3600

/** Connects, creating the schema of the queue where it is missing (`migrate`), and the queues of these jobs. */
export async function openQueue(
  database: Database,
  jobs: readonly QueuedJob[],
  clock: Clock,
  options: { supervise: boolean; onError(error: Error): void },
): Promise<Queue> {
  const connection = bossDatabase(database)
  const backend = database.kind
  const common = { db: connection, backend, schedule: false as const }
  const maker = new PgBoss({ ...common, supervise: false, migrate: true })
  maker.on('error', options.onError)
  await maker.start()
  const known = new Map((await maker.getQueues()).map((queue) => [queue.name, queue]))
  if (!known.has(failedQueue)) await maker.createQueue(failedQueue, failedQueueOptions)
  for (const job of jobs) {
    const wanted = queueOptions(job)
    const there = known.get(job.name)
    if (!there) await maker.createQueue(job.name, wanted)
    else if (
      there.policy !== wanted.policy ||
      there.expireInSeconds !== wanted.expireInSeconds ||
      there.retryLimit !== wanted.retryLimit ||
      there.deadLetter !== wanted.deadLetter
    ) {
      const { policy, ...changeable } = wanted
      await maker.updateQueue(job.name, changeable)
      // pg-boss would have the queue deleted for it, with all that waits in it: that goes by the policy of its own row.
      await database.query('update pgboss.queue set policy = $2 where name = $1', [job.name, policy])
    }
  }
  await maker.stop({ graceful: false, close: false })

  // Started anew so that every queue is cached: a send inside a transaction must not ask for it.
  const boss = new PgBoss({
    ...common,
    supervise: options.supervise,
    migrate: false,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
  })
  boss.on('error', options.onError)
  await boss.start()
  const listeners: (() => void)[] = []
  const byName = new Map(jobs.map((job) => [job.name, job]))

  return {
    boss,
    async send({ name }, envelope, given = {}) {
      const job = byName.get(name)
      if (!job) throw new Error(`No job takes the handle ${name}: write jobs/${name}.ts, or queue another`)
      const payload = job.handle.payload.parse(envelope.payload)
      const key = job.spec.oneAtATimePer?.(payload as never)
      const delay = given.at ? (given.at.getTime() - clock.ms()) / 1000 : (given.afterSeconds ?? 0)
      const sendOptions = {
        id: given.id ?? newId(clock.ms()),
        ...(delay > 0 ? { startAfter: new Date(Date.now() + delay * 1000) } : {}),
        ...(key === undefined ? {} : { singletonKey: `${envelope.storeId ?? ''}:${key}` }),
        ...(given.transaction ? { db: fromKysely(given.transaction) } : {}),
      }
      const data = { ...envelope, payload }
      let jobId: string | null | undefined = null
      // The one that waits may be taken up by a worker between the two looks: then there is room for another.
      for (let looks = 0; !jobId && looks < 3; looks += 1) {
        jobId =
          (await boss.send(job.name, data, sendOptions)) ??
          (await waitingJob(given.transaction ?? null, job.name, sendOptions.singletonKey, delay))
      }
      if (!jobId) throw new Error(`${job.name} was not queued: the queue refused it`)
      for (const listener of listeners) listener()
      return jobId
    },
    async due(names) {
      const rows = await database.query<{ name: string }>(
        `select q.name from unnest($1::text[]) as q(name) where exists (
           select 1 from pgboss.job j
           where j.name = q.name and j.state < 'active' and j.start_after <= now())`,
        [names],
      )
      return rows.map((row) => row.name)
    },
    async unfinished(names) {
      const [row] = await database.query<{ jobs: number }>(
        `select count(*)::int as jobs from pgboss.job j where j.name = any($1::text[]) and (
           j.state = 'active' or (j.state < 'active' and j.start_after <= now())
           or (j.state = 'retry' and j.started_on is null
             and j.start_after <= now() + $2::float8 * interval '1 second'))`,
        [names, putBackAtMostSeconds],
      )
      return row!.jobs
    },
    async fetch(name, atMost) {
      return (await boss.fetch<Envelope>(name, { batchSize: atMost, includeMetadata: true })) as FetchedJob[]
    },
    async complete(name, { id, retryCount }) {
      await boss.complete(name, { id, retryCount })
    },
    async fail(name, { id, retryCount }, reason) {
      await boss.fail(name, { id, retryCount }, { message: reason })
    },
    async touch(name, { id, retryCount }) {
      // Its types leave out what it answers.
      const { affected } = (await boss.touch(name, { id, retryCount })) as { affected: number }
      return affected > 0
    },
    handBack: (id) => postpone(id, 0),
    postpone,
    async isBehindAnother(name, { id, singletonKey }) {
      const rows = await database.query(
        `select 1 from pgboss.job j, pgboss.job mine
         where mine.name = $1 and mine.id = $2 and j.name = $1 and j.singleton_key = $3 and j.state = 'active'
           and (j.started_on, j.id) < (mine.started_on, mine.id)`,
        [name, id, singletonKey],
      )
      return rows.length > 0
    },
    async bringForward(storeId, transaction = null) {
      const query = `update pgboss.job set start_after = now()
         where state = 'retry' and started_on is null and start_after > now()
           and ($1::text is null or data ->> 'storeId' = $1)`
      if (transaction) await transaction.executeQuery(CompiledQuery.raw(query, [storeId]))
      else await database.query(query, [storeId])
      for (const listener of listeners) listener()
    },
    async waitForProvider(name, { id, retryCount, singletonKey }, seconds) {
      if (singletonKey) {
        const others = await database.query(
          `select 1 from pgboss.job where name = $1 and singleton_key = $2 and state < 'active' and id <> $3 limit 1`,
          [name, singletonKey, id],
        )
        if (others.length > 0) {
          await boss.complete(name, { id, retryCount })
          return
        }
      }
      await postpone(id, seconds)
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
        'select name, state::text as state, count(*)::int as jobs from pgboss.job group by name, state',
        [],
      ),
    stop: () => boss.stop({ graceful: false, close: false }),
  }

  async function postpone(id: string, seconds: number): Promise<void> {
    // As `retry`, of which a key may have one beside the one that waits; its tries stay uncounted.
    await database.query(
      `update pgboss.job set state = 'retry', started_on = null, heartbeat_on = null,
         start_after = now() + $2::float8 * interval '1 second'
       where id = $1 and state = 'active'`,
      [id, seconds],
    )
  }

  /** The one that waits; it waits no longer than `delay` seconds from now: who asked for it sooner is not held up. */
  async function waitingJob(
    transaction: Transaction<Tables> | null,
    name: string,
    key: string | undefined,
    delay: number,
  ) {
    const query = async (text: string, parameters: unknown[]): Promise<{ id: string }[]> =>
      transaction
        ? (await transaction.executeQuery<{ id: string }>(CompiledQuery.raw(text, parameters))).rows
        : database.query<{ id: string }>(text, parameters)
    const [waiting] = await query(
      `select id from pgboss.job where name = $1 and singleton_key = $2 and state in ('created', 'retry')
       order by created_on limit 1`,
      [name, key ?? ''],
    )
    if (!waiting) return undefined
    // What failed keeps its pause between two tries.
    await query(
      `update pgboss.job set start_after = now() + $3::float8 * interval '1 second'
       where name = $1 and id = $2 and state = 'created' and start_after > now() + ($3::float8 + 1) * interval '1 second'`,
      [name, waiting.id, Math.max(delay, 0)],
    )
    return waiting.id
  }
}

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

/** pg-boss's statements over our own connections. */
function bossDatabase(database: Database): NonNullable<ConstructorOptions['db']> {
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
