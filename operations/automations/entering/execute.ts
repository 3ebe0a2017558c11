/** The operation execute: sends an automation now to everybody with a past event that it covers (rule 8). */

import { checkRoute, templates } from '#operations/messaging/index'
import { metering } from '#operations/store/index'
import type { Context, Queued } from '#runtime/context'
import { refuse, refuseTemporarily } from '#runtime/errors'
import { automationNotFound, getAutomation } from '../automations.ts'
import { automationExecute } from '../handles.ts'
import type { AutomationRow } from '../types.ts'
import { countCandidates, listCandidates } from './candidates.ts'
import { enterRuns } from './enter.ts'

const batchSize = 200
const busy = () =>
  refuseTemporarily(
    'conflict',
    'The automation is being executed already: wait until all its messages are scheduled',
  )

/**
 * Counts the candidates and queues the job. Refuses an automation that is turned off, cannot send or is already being
 * executed. Also refuses if there are more candidates than messages left in the quota. Call it outside any transaction,
 * because it may call the platform.
 */
export async function startExecute(
  ctx: Context,
  id: string,
  limit: number,
): Promise<Queued & { candidates: number }> {
  const automation = await getAutomation(ctx, id)
  if (!automation) throw automationNotFound()
  await requireSendable(ctx, automation)
  if (await isExecuting(ctx, id)) throw busy()
  const found = await countCandidates(ctx, automation, limit)
  const { remaining } = await metering.readUsage(ctx)
  if (found > remaining) {
    throw refuse(
      'forbidden',
      `Not enough messages left in this cycle: it is for ${found} customers, and ${remaining} messages are left`,
    )
  }
  return ctx.transaction(async (tx) => {
    const jobId = tx.newId()
    const claimed = await tx.db
      .updateTable('automations')
      .set({ executing_job_id: jobId, executing_left: found })
      .where('id', '=', id)
      .where('executing_job_id', 'is', null)
      .where('is_active', '=', true)
      .where('deleted_at', 'is', null)
      .returning('id')
      .execute()
    if (claimed.length === 0) throw busy()
    const queued = await tx.queue(automationExecute, { automationId: id, jobId }, { id: jobId })
    return { ...queued, candidates: found }
  })
}

async function requireSendable(ctx: Context, { isActive, message }: AutomationRow): Promise<void> {
  if (!isActive) throw refuse('conflict', 'The automation is turned off: turn it on first')
  const route = await checkRoute(ctx)
  if ('code' in route) {
    throw refuse(route.code === 'subscription-inactive' ? 'forbidden' : 'conflict', route.message)
  }
  const hasText = message.text !== null && message.text.trim() !== ''
  if (route.connection.type !== 'official') {
    if (!hasText) throw refuse('conflict', 'The message has no text, which this kind of number needs')
    return
  }
  const id = message.officialapiTemplateId
  const template = id === null ? null : await templates.get(ctx, id)
  if (template?.status !== 'approved' && !hasText) {
    throw refuse('conflict', 'The message has no approved template: choose one, or write a text')
  }
}

async function isExecuting(ctx: Context, id: string): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('automations')
    .select('executing_job_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.executing_job_id != null
}

/**
 * Runs the job in batches. Each batch starts its runs and updates the remaining count in one transaction, so that a retry
 * continues after the last batch.
 */
export async function execute(
  ctx: Context,
  { automationId, jobId }: { automationId: string; jobId: string },
  signal: AbortSignal,
): Promise<void> {
  const automation = await getAutomation(ctx, automationId)
  if (automation?.isActive) {
    for await (const page of listCandidates(ctx, automation)) {
      for (let i = 0; i < page.length; i += batchSize) {
        signal.throwIfAborted()
        const batch = page.slice(i, i + batchSize)
        const remaining = await ctx.transaction(async (tx) => {
          const row = await tx.db
            .selectFrom('automations')
            .select('executing_left')
            .where('id', '=', automationId)
            .where('executing_job_id', '=', jobId)
            .forUpdate()
            .executeTakeFirst()
          const before = row?.executing_left ?? 0
          const entered = await enterRuns(tx, automation, batch.slice(0, before), tx.now())
          await tx.db
            .updateTable('automations')
            .set({ executing_left: before - entered })
            .where('id', '=', automationId)
            .where('executing_job_id', '=', jobId)
            .execute()
          return before - entered
        })
        if (remaining <= 0) return endExecute(ctx, automationId, jobId)
      }
    }
  }
  await endExecute(ctx, automationId, jobId)
}

/** Records that the job has ended, so that the automation can be executed again. */
export async function endExecute(ctx: Context, automationId: string, jobId: string): Promise<void> {
  await ctx.db
    .updateTable('automations')
    .set({ executing_job_id: null, executing_left: null })
    .where('id', '=', automationId)
    .where('executing_job_id', '=', jobId)
    .execute()
}
