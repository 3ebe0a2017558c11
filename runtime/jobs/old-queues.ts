/** Releases until 1.0 had a queue for each job: what waits there moves to the queues of today. */
import type { Kysely } from 'kysely'
import { type Db, fromKysely, type JobWithMetadata, type PgBoss } from 'pg-boss'
import type { Tables } from '#db/tables'
import { messageOf, sqlState } from '#runtime/errors'
import { queueNames } from './boss.ts'

const atOnce = 100

/**
 * Moves what waits, due or not, where nothing runs: a worker of such a release goes on with its own until it is gone.
 * `unseen`: also where pg-boss's counts, which are of some seconds ago, tell of nothing.
 */
export async function moveOldJobs(
  boss: PgBoss,
  root: Kysely<Tables>,
  unseen: boolean,
  isJob: (name: string) => boolean,
  queueAnew: (db: Db, job: JobWithMetadata) => Promise<void>,
): Promise<void> {
  const today: readonly string[] = queueNames
  for (const { name, queuedCount, activeCount } of await boss.getQueues()) {
    if (today.includes(name) || !isJob(name) || activeCount > 0) continue
    if (queuedCount === 0 && !unseen) continue
    for (let moved = atOnce; moved === atOnce; ) {
      moved = await root.transaction().execute(async (transaction) => {
        const db = fromKysely(transaction)
        const asked = { batchSize: atOnce, ignoreStartAfter: true, includeMetadata: true, db } as const
        const jobs = await boss.fetch<object>(name, asked)
        for (const job of jobs) {
          try {
            await queueAnew(db, job)
            await boss.deleteJob(name, job, { db })
          } catch (error) {
            if (sqlState(error)) throw error
            // One whose payload does not fit any longer keeps no other from being moved: it fails.
            await boss.fail(name, job, { message: messageOf(error) }, { db })
          }
        }
        return jobs.length
      })
    }
  }
}
