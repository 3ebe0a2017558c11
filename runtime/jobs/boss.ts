/** The queues on pg-boss, one per class of jobs, and its connections to the database. */
import { type Db, fromPglite, type PgBoss } from 'pg-boss'
import type { Database } from '#db/database'

/**
 * `interactive`: somebody waits. `bulk`: long work. `scheduled`: scheduled per store. `maintenance`: scheduled for the
 * server.
 */
export const queueClasses = ['interactive', 'bulk', 'scheduled', 'maintenance'] as const
/**
 * The dead letter queue. A job is moved there by the statement that fails it for good, of its worker or of another one
 * that notices a dead worker. So its `failed` hook runs in any case, and is retried until it succeeds.
 */
export const failedQueue = 'failed-jobs'
export const queueNames = [...queueClasses, failedQueue] as const
export type QueueClass = (typeof queueClasses)[number]
export type QueueName = (typeof queueNames)[number]

/** A running job without a heartbeat for so long belongs to a dead worker. */
export const heartbeatSeconds = 20
const retentionSeconds = 400 * 24 * 3600

/**
 * Retries and timeouts are options of each job. The policy lets one job per key wait; the worker lets one per key run.
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

/** Creates missing queues, and lets pg-boss read all of them. */
export async function createQueues(boss: PgBoss): Promise<void> {
  const there = new Set((await boss.getQueues([...queueNames])).map(({ name }) => name))
  if (!there.has(failedQueue)) await boss.createQueue(failedQueue, failedOptions)
  for (const name of queueClasses) if (!there.has(name)) await boss.createQueue(name, classOptions)
  // pg-boss reads a queue at its first use, outside any transaction: the embedded database would deadlock with itself.
  for (const name of queueNames) await boss.findJobs(name, { id: unusedId })
}

/** pg-boss's own statements, over our connections. Its periodic maintenance takes long. */
export function bossDatabase({ pglite, longRunning }: Database): Db {
  if (pglite) return fromPglite(pglite)
  return {
    async executeSql(text, values) {
      const rows = values?.length ? await longRunning.query(text, values) : await longRunning.script(text)
      return { rows }
    },
  }
}

/** For statements that somebody waits for. */
export const requestDatabase = (database: Database): Db => ({
  executeSql: async (text, values = []) => ({ rows: await database.query(text, values) }),
})
