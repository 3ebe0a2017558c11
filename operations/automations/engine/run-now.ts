/** Sends or cancels a pending message on a member's request. */
import { metering } from '#operations/store/index'
import type { Context, Queued } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import { decide } from '../deciding/decide.ts'
import { readRows } from '../deciding/rows.ts'
import { noExecution, readExecution } from './execution-json.ts'
import { queueExecution } from './schedule.ts'
import { findSendContext, readDecisionContext } from './send-context.ts'
import { endExecutions } from './termination.ts'

const notPending = () =>
  refuse('conflict', 'The message is no longer pending: it was sent, skipped or cancelled')

/** Sends a pending message now: claims it, reserves a quota unit and queues its job. Call it outside any transaction. */
export async function runNow(
  ctx: Context,
  id: string,
): Promise<Queued & { executionId: string; automationId: string }> {
  await requireExecution(ctx, id)
  const sendContext = await findSendContext(ctx)
  return ctx.transaction(async (tx) => {
    const claimed = await tx.db
      .updateTable('automation_executions')
      .set({
        status: 'sending',
        is_forced: true,
        claim_id: null,
        claimed_at: tx.now(),
        called_at: null,
        message: null,
        updated_at: tx.now(),
      })
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .returning(['id', 'reservation_id'])
      .executeTakeFirst()
    if (!claimed) throw notPending()
    const [row] = await readRows(tx, [id])
    if (!row || row.is_deleted) throw refuse('not_found', noExecution)
    const decision = decide(row, await readDecisionContext(tx, sendContext, [row]))
    if (decision.kind === 'held' && decision.hold.reason === 'not-connected') {
      throw refuse('conflict', 'No number that can send is connected: connect or select one first')
    }
    if (decision.kind === 'skipped' && decision.reason === 'opted-out') {
      throw refuse('conflict', 'The customer does not want messages any more')
    }
    if (claimed.reservation_id === null) {
      const reservationId = await metering.reserve(tx, 1, 'automation')
      await tx.db
        .updateTable('automation_executions')
        .set({ reservation_id: reservationId })
        .where('id', '=', id)
        .execute()
    }
    return { ...(await queueExecution(tx, id)), executionId: id, automationId: row.automation_id }
  })
}

/** Cancels a pending message and ends its run, in the operation's transaction. */
export async function cancelExecution(ctx: Context, id: string): Promise<JsonText> {
  await requireExecution(ctx, id)
  const ended = await endExecutions(ctx, [{ id, status: 'cancelled', code: 'cancelled-by-member' }])
  if (ended.length === 0) throw notPending()
  return readExecution(ctx, id)
}

const requireExecution = (ctx: Context, id: string) =>
  requireRow(
    ctx.db
      .selectFrom('automation_executions as e')
      .innerJoin('automations as a', 'a.id', 'e.automation_id')
      .select('e.id')
      .where('a.deleted_at', 'is', null),
    id,
    noExecution,
    'e.id',
  )
