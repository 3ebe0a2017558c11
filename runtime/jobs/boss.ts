/** The queues on pg-boss, one a class of jobs, and the connections by which it reaches the database. */
import { type Db, fromPglite, type PgBoss } from 'pg-boss'
import type { Database } from '#db/database'

/** `interactive`: somebody waits. `bulk`: long work. `scheduled`: by the clock for a store. `maintenance`: for the server. */
export const queueClasses = ['interactive', 'bulk', 'scheduled', 'maintenance'] as const
/**
 * Where what was given up is put, in the statement that gives it up: by the worker that ran it, or by who noticed that
 * the worker is gone. So its `failed` is called whoever ran it, and again until it succeeds.
 */
export const failedQueue = 'failed-jobs'
export const queueNames = [...queueClasses, failedQueue] as const
export type QueueClass = (typeof queueClasses)[number]
export type QueueName = (typeof queueNames)[number]

/** A running job that says nothing for so long belongs to a dead worker. */
export const heartbeatSeconds = 20
const retentionSeconds = 400 * 24 * 3600

/** Retries and times are options of each job. Of one key one waits; that one runs at a time is the worker's. */
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

const nobody = '00000000-0000-0000-0000-000000000000'

/** Creates the queues that are missing, and lets pg-boss know all of them. */
export async function createQueues(boss: PgBoss): Promise<void> {
  const there = new Set((await boss.getQueues([...queueNames])).map(({ name }) => name))
  if (!there.has(failedQueue)) await boss.createQueue(failedQueue, failedOptions)
  for (const name of queueClasses) if (!there.has(name)) await boss.createQueue(name, classOptions)
  // pg-boss reads a queue at its first use, beside any transaction: the embedded database would wait for itself.
  for (const name of queueNames) await boss.findJobs(name, { id: nobody })
}

/** pg-boss's own statements, over our connections. It puts its tables in order now and then, which takes long. */
export function bossDatabase({ pglite, patient }: Database): Db {
  if (pglite) return fromPglite(pglite)
  return {
    async executeSql(text, values) {
      const rows = values?.length ? await patient.query(text, values) : await patient.script(text)
      return { rows }
    },
  }
}

/** For statements that somebody waits for. */
export const quickDatabase = (database: Database): Db => ({
  executeSql: async (text, values = []) => ({ rows: await database.query(text, values) }),
})
