/** What is due without a job, claims of dead workers, holds whose cause is over: found each minute, over all stores. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { outbox } from '#operations/messaging/door'
import type { SystemContext } from '#runtime/context'
import { automationExecute } from '../handles.ts'

/** A job of its own has had its chance for so long. */
const graceMs = 2_000
const atATime = 1000

/** Stores with something to do. One look at an index of what is due, and one of what is claimed. */
export async function storesToSweep(root: RootDatabase, now: Date): Promise<string[]> {
  const due = await root
    .selectFrom('automation_executions')
    .select('store_id')
    .distinct()
    .where('status', '=', sql.lit('pending'))
    .where('scheduled_at', '<=', new Date(now.getTime() - graceMs))
    .limit(atATime)
    .execute()
  const dead = await root
    .selectFrom('automation_executions')
    .select('store_id')
    .distinct()
    .where('status', '=', sql.lit('sending'))
    .where('claimed_at', '<=', new Date(now.getTime() - outbox.deadAfterMs))
    .limit(atATime)
    .execute()
  return [...new Set([...due, ...dead].map((row) => row.store_id))]
}

/** Stores where messages wait for a connection. */
export async function storesHeld(root: RootDatabase): Promise<string[]> {
  const rows = await root
    .selectFrom('automation_executions')
    .select('store_id')
    .distinct()
    .where('status', '=', sql.lit('pending'))
    .where('hold_reason', 'is not', null)
    .where('hold_reason', '=', 'not-connected')
    .limit(atATime)
    .execute()
  return rows.map((row) => row.store_id)
}

/** Executes whose job is gone for good: their automations may be executed again. */
export async function freeExecutes({ root, services }: SystemContext): Promise<void> {
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
