/** A pending message sent or cancelled by a member, or sent by hand from the inbox. */
import { metering } from '#operations/store/door'
import type { Context, Queued } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import { decide } from '../deciding/decide.ts'
import { readRows } from '../deciding/rows.ts'
import { endExecutions } from './endings.ts'
import { noExecution, readExecution } from './execution-json.ts'
import { queueOne } from './schedule.ts'
import { findMeans, surroundingsOf } from './surroundings.ts'

const notPending = () =>
  refuse('conflict', 'The message is not waiting any more: it has left, was skipped, or was cancelled')

/** Claims a pending message for now, with a unit of the quota, and queues its job. Outside any transaction. */
export async function runNow(ctx: Context, id: string): Promise<Queued & { executionId: string }> {
  await requireExecution(ctx, id)
  const means = await findMeans(ctx)
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
    const decision = decide(row, await surroundingsOf(tx, means, [row]))
    if (decision.is === 'held' && decision.hold.reason === 'not-connected') {
      throw refuse('conflict', 'No number that can send is connected: connect or select one first')
    }
    if (decision.is === 'skipped' && decision.reason === 'opted-out') {
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
    return { ...(await queueOne(tx, id)), executionId: id }
  })
}

/** Nothing of its run follows. In the operation's transaction. */
export async function cancelExecution(ctx: Context, id: string): Promise<JsonText> {
  await requireExecution(ctx, id)
  const ended = await endExecutions(ctx, [{ id, status: 'cancelled', code: 'cancelled-by-member' }])
  if (ended.length === 0) throw notPending()
  return readExecution(ctx, id)
}

const requireExecution = (ctx: Context, id: string) =>
  oneRow(
    ctx.db
      .selectFrom('automation_executions as e')
      .innerJoin('automations as a', 'a.id', 'e.automation_id')
      .select('e.id')
      .where('a.deleted_at', 'is', null),
    id,
    noExecution,
    'e.id',
  )
