/** Messages of automations leave by the outbox: what each is about, and what its run makes of what became of it (rule 5). */
import { outbox, type sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { endFollowing } from './endings.ts'
import { followRuns } from './follow.ts'
import { queueAdvance } from './schedule.ts'

export interface Message extends outbox.Standing {
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

export const executions = outbox.lane<Message>()({
  kind: 'au',
  source: 'automation',
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
  joined: (messages) =>
    messages
      .innerJoin('automation_runs as r', 'r.id', 'm.run_id')
      .innerJoin('automations as a', 'a.id', 'm.automation_id')
      .select((eb) => [
        'a.name as automationName',
        'a.type as automationType',
        'r.flow_version as flowVersion',
        eb('r.origin', '=', 'manual').as('isManual'),
      ]),
  leaving: ['sending'],
  claim: ['claim_id', 'claimed_at'],
  // As before, those of `run` at once.
  requeued: (tx, row) => pendingAgain(row, row.isForced ? { scheduledAt: tx.now() } : {}),
  ended: { holdReason: null, heldSince: null },
  departing: ({ automationId, automationName, automationType, couponCode, text, isManual }) => ({
    sourceId: automationId,
    sourceName: automationName,
    automationType,
    ...(couponCode === null ? {} : { couponCode }),
    text: text ?? '',
    ...(isManual ? { via: 'official' } : {}),
  }),
  moved,
})

/** What leaves of a message that is claimed. */
export type Claimed = Pick<Message, 'id' | 'attempt' | 'phone' | 'content' | 'isManual'>

/** Certainly not taken: without its text and its unit until it is decided again. */
export const pendingAgain = (row: Message, change: Partial<Message>): Message => ({
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

async function moved(tx: Context, moves: readonly outbox.Move<Message>[]): Promise<void> {
  const left = moves.filter(
    ({ before, after }) =>
      before.status === 'sending' && after.sentAt !== null && after.code !== outbox.unknownOutcome.code,
  )
  // Even where it failed: what follows is skipped right after, as for every other.
  await followRuns(
    tx,
    left.map(({ after }) => ({ ...after, sentAt: after.sentAt! })),
  )
  const failed = moves.filter(({ before, after }) => after.status === 'failed' && before.status !== 'failed')
  await endFollowing(
    tx,
    failed.map(({ after }) => after.runId),
  )
  await queueAdvance(
    tx,
    moves.flatMap(({ after }) => (after.status === 'pending' ? after.scheduledAt : [])),
  )
}
