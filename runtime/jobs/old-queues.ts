/** Moves the waiting jobs of releases until 1.0, which had a queue per job, to the current queues. */
import type { Kysely } from 'kysely'
import { type Db, fromKysely, type JobWithMetadata, type PgBoss } from 'pg-boss'
import type { Tables } from '#db/tables'
import { getMessage, sqlState } from '#runtime/errors'
import { queueNames } from './boss.ts'

const atOnce = 100

/**
 * Moves waiting jobs, due or not, from old queues in which nothing runs. If jobs run there, a worker of the old release
 * still handles that queue. `unseen`: reads a queue even if pg-boss's counts, which are some seconds old, show no jobs.
 */
export async function moveOldJobs(
  boss: PgBoss,
  root: Kysely<Tables>,
  unseen: boolean,
  isJob: (name: string) => boolean,
  queueAgain: (db: Db, job: JobWithMetadata) => Promise<void>,
): Promise<void> {
  const today: readonly string[] = queueNames
  for (const { name, queuedCount, activeCount } of await boss.getQueues()) {
    if (today.includes(name) || !isJob(name) || activeCount > 0) continue
    if (queuedCount === 0 && !unseen) continue
    for (let moved = atOnce; moved === atOnce; ) {
      moved = await root.transaction().execute(async (transaction) => {
        const db = fromKysely(transaction)
        const options = { batchSize: atOnce, ignoreStartAfter: true, includeMetadata: true, db } as const
        const jobs = await boss.fetch<object>(name, options)
        for (const job of jobs) {
          try {
            await queueAgain(db, job)
            await boss.deleteJob(name, job, { db })
          } catch (error) {
            if (sqlState(error)) throw error
            // A job whose payload does not fit any longer fails, so that it does not stop the others.
            await boss.fail(name, job, { message: getMessage(error) }, { db })
          }
        }
        return jobs.length
      })
    }
  }
}
