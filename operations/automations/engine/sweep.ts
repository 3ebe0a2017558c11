/**
 * Finds, every minute and in all stores, due messages without a job, claims of dead workers, and holds that may have
 * ended.
 */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { outbox } from '#operations/messaging/index'
import type { SystemContext } from '#runtime/context'
import { automationExecute } from '../handles.ts'

/** The sweep ignores messages that became due more recently, so that their own job can run first. */
const graceMs = 2_000
const batchSize = 1000

/** Finds stores with due messages or with claims of dead workers, with one index scan each. */
export async function findStoresToSweep(root: RootDatabase, now: Date): Promise<string[]> {
  const due = await root
    .selectFrom('automation_executions')
    .select('store_id')
    .distinct()
    .where('status', '=', sql.lit('pending'))
    .where('scheduled_at', '<=', new Date(now.getTime() - graceMs))
    .limit(batchSize)
    .execute()
  const dead = await root
    .selectFrom('automation_executions')
    .select('store_id')
    .distinct()
    .where('status', '=', sql.lit('sending'))
    .where('claimed_at', '<=', new Date(now.getTime() - outbox.deadAfterMs))
    .limit(batchSize)
    .execute()
  return [...new Set([...due, ...dead].map((row) => row.store_id))]
}

/** Finds stores whose messages wait for a connection. */
export async function findStoresOnHold(root: RootDatabase): Promise<string[]> {
  const rows = await root
    .selectFrom('automation_executions')
    .select('store_id')
    .distinct()
    .where('status', '=', sql.lit('pending'))
    .where('hold_reason', 'is not', null)
    .where('hold_reason', '=', 'not-connected')
    .limit(batchSize)
    .execute()
  return rows.map((row) => row.store_id)
}

/** Clears `executing_job_id` of automations whose execute job no longer exists, so that they can be executed again. */
export async function releaseDeadExecutes({ root, services }: SystemContext): Promise<void> {
  const held = await root
    .selectFrom('automations')
    .select(['store_id', 'executing_job_id as job'])
    .where('executing_job_id', 'is not', null)
    .execute()
  for (const { store_id, job } of held) {
    if (await services.queue.isUnfinished(automationExecute, job!)) continue
    await root
      .updateTable('automations')
      .set({ executing_job_id: null, executing_left: null })
      .where('store_id', '=', store_id)
      .where('executing_job_id', '=', job)
      .execute()
  }
}
