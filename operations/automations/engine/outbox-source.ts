/** Registers automation messages with the outbox, and continues or ends a run after each message (rule 5). */
import { outbox, type sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { logHolds } from '../deciding/hold-log.ts'
import { continueRuns } from './run-continuation.ts'
import { queueAdvance } from './schedule.ts'
import { skipFollowing } from './termination.ts'

export interface Message extends outbox.MessageState {
  runId: string
  automationId: string
  automationName: string
  automationType: string
  sequence: number
  stepId: string | null
  flowVersion: number | null
  isManual: boolean
  isForced: boolean
  scheduledAt: Date
  dueAt: Date | null
  holdReason: string | null
  heldSince: Date | null
  heldMs: number
  holdTries: number
  content: sending.Content | null
  text: string | null
  templateId: number | null
  couponCode: string | null
}

export const executions = outbox.defineBatchSource<Message>()({
  kind: 'au',
  messageSource: 'automation',
  table: 'automation_executions',
  columns: {
    attempt: ['attempts'],
    code: ['failure_code', 'text'],
    reason: ['failure_reason', 'text'],
    scheduledAt: ['scheduled_at', 'timestamptz'],
    dueAt: ['due_at', 'timestamptz'],
    holdReason: ['hold_reason', 'text'],
    heldSince: ['held_since', 'timestamptz'],
    heldMs: ['held_ms', 'integer'],
    holdTries: ['hold_tries', 'integer'],
    content: ['message', 'jsonb'],
    text: ['text', 'text'],
    templateId: ['officialapi_template_id', 'integer'],
    couponCode: ['coupon_code', 'text'],
    runId: ['run_id'],
    automationId: ['automation_id'],
    sequence: ['sequence'],
    stepId: ['step_id'],
    isForced: ['is_forced'],
  },
  join: (messages) =>
    messages
      .innerJoin('automation_runs as r', 'r.id', 'm.run_id')
      .innerJoin('automations as a', 'a.id', 'm.automation_id')
      .select((eb) => [
        'a.name as automationName',
        'a.type as automationType',
        'r.flow_version as flowVersion',
        eb('r.origin', '=', 'manual').as('isManual'),
      ]),
  inFlightStatuses: ['sending'],
  claimColumns: ['claim_id', 'claimed_at'],
  // A requeued message keeps its due time, except one sent with the operation `run`, which is due at once.
  requeue: (tx, row) => toPending(row, row.isForced ? { scheduledAt: tx.now() } : {}),
  clearedOnEnd: { holdReason: null, heldSince: null },
  describeSent: ({ automationId, automationName, automationType, couponCode, text, isManual }) => ({
    sourceId: automationId,
    sourceName: automationName,
    automationType,
    ...(couponCode === null ? {} : { couponCode }),
    text: text ?? '',
    ...(isManual ? { via: 'official' } : {}),
  }),
  onTransitions: handleTransitions,
})

/** The fields of a claimed message that are needed to send it. */
export type ClaimedMessage = Pick<Message, 'id' | 'attempt' | 'phone' | 'content' | 'isManual'>

/**
 * Makes a message that the provider certainly did not accept pending again. The next decision renders it and reserves a
 * quota unit again.
 */
export const toPending = (row: Message, change: Partial<Message>): Message => ({
  ...row,
  status: 'pending',
  content: null,
  text: null,
  templateId: null,
  couponCode: null,
  reservationId: null,
  calledAt: null,
  ...change,
})

async function handleTransitions(tx: Context, moves: readonly outbox.Transition<Message>[]): Promise<void> {
  await logHolds(
    tx,
    moves.map(({ before, after: { id, automationId, holdReason: after, status } }) => ({
      ...{ id, automationId, status, after },
      before: before.holdReason,
    })),
  )
  const sent = moves.filter(
    ({ before, after }) =>
      before.status === 'sending' && after.sentAt !== null && after.code !== outbox.indeterminate.code,
  )
  // A message that was accepted and then failed also continues its run; `skipFollowing` then skips the next message.
  await continueRuns(
    tx,
    sent.map(({ after }) => ({ ...after, sentAt: after.sentAt! })),
  )
  const failed = moves.filter(({ before, after }) => after.status === 'failed' && before.status !== 'failed')
  await skipFollowing(
    tx,
    failed.map(({ after }) => after.runId),
  )
  await queueAdvance(
    tx,
    moves.flatMap(({ after }) => (after.status === 'pending' ? after.scheduledAt : [])),
  )
}
