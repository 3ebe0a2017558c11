/** The queues in pg-boss, one per class of jobs, and the database connections that pg-boss uses. */
import { type Db, fromPglite, type PgBoss } from 'pg-boss'
import type { Database } from '#db/database'

/**
 * `interactive`: jobs whose result somebody waits for. `bulk`: long work. `scheduled`: scheduled jobs of a store.
 * `maintenance`: scheduled jobs of the server.
 */
export const queueClasses = ['interactive', 'bulk', 'scheduled', 'maintenance'] as const
/**
 * The dead letter queue. The statement that fails a job for good also moves it there, whether its own worker sends that
 * statement or another one that notices a dead worker. So the job's `failed` hook runs in any case, and is retried.
 */
export const failedQueue = 'failed-jobs'
export const queueNames = [...queueClasses, failedQueue] as const
export type QueueClass = (typeof queueClasses)[number]
export type QueueName = (typeof queueNames)[number]

/** The worker of a running job counts as dead after so many seconds without a heartbeat. */
export const heartbeatSeconds = 20
const retentionSeconds = 400 * 24 * 3600

/**
 * Options of all queues but the dead letter queue. Retries and timeouts are options of each job. The policy `short`
 * allows one waiting job per key; that only one per key runs is checked by the worker.
 */
const classOptions = { policy: 'short', retentionSeconds, heartbeatSeconds, deadLetter: failedQueue } as const
const failedOptions = {
  policy: 'standard',
  retryLimit: 5,
  retryDelay: 10,
  retryBackoff: true,
  expireInSeconds: 300,
  retentionSeconds,
  heartbeatSeconds,
  deleteAfterSeconds: 3600,
} as const

const unusedId = '00000000-0000-0000-0000-000000000000'

/** Creates missing queues, and makes pg-boss load the options of all queues. */
export async function createQueues(boss: PgBoss): Promise<void> {
  const there = new Set((await boss.getQueues([...queueNames])).map(({ name }) => name))
  if (!there.has(failedQueue)) await boss.createQueue(failedQueue, failedOptions)
  for (const name of queueClasses) if (!there.has(name)) await boss.createQueue(name, classOptions)
  // pg-boss loads a queue's options at its first use, on another connection. Within a transaction the embedded
  // database, which has one connection, would deadlock.
  for (const name of queueNames) await boss.findJobs(name, { id: unusedId })
}

/** Runs pg-boss's own statements on the pool for long-running ones, since its periodic maintenance takes long. */
export function bossDatabase({ pglite, longRunning }: Database): Db {
  if (pglite) return fromPglite(pglite)
  return {
    async executeSql(text, values) {
      const rows = values?.length ? await longRunning.query(text, values) : await longRunning.script(text)
      return { rows }
    },
  }
}

/** Runs pg-boss's statements that a request or a worker waits for. */
export const requestDatabase = (database: Database): Db => ({
  executeSql: async (text, values = []) => ({ rows: await database.query(text, values) }),
})
