/**
 * Registers campaign messages with the outbox, and updates the campaign's counters when messages change state (rule 4).
 */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { greatest } from '#runtime/database/sql'
import { failureCode, type SkipReason } from '../schema.ts'

export interface CampaignMessage extends outbox.MessageState {
  campaignId: string
  campaignName: string
  /** True if the campaign was cancelled or deleted, so that the message must not be sent. */
  isOver: boolean
  skipReason: SkipReason | null
  text: string | null
  attempts: number
  claimId: string | null
  claimedAt: Date | null
}

export const campaignMessages = outbox.defineBatchSource<CampaignMessage>()({
  kind: 'cm',
  messageSource: 'messaging-campaign',
  table: 'campaign_messages',
  columns: {
    attempt: ['generation', 'integer'],
    code: ['failure_code', 'text'],
    reason: ['failure_message', 'text'],
    claimId: ['claim_id'],
    claimedAt: ['claimed_at'],
    campaignId: ['campaign_id'],
    skipReason: ['skip_reason', 'text'],
    text: ['text', 'text'],
    attempts: ['attempts', 'integer'],
  },
  join: (messages) =>
    messages
      .innerJoin('campaigns as c', 'c.id', 'm.campaign_id')
      .select([
        'c.name as campaignName',
        sql<boolean>`c.status = 'cancelled' or c.deleted_at is not null`.as('isOver'),
      ]),
  inFlightStatuses: ['sending'],
  pendingStatuses: ['pending'],
  claimColumns: ['claim_id', 'claimed_at', 'called_at'],
  requeue: (_tx, row) => ({
    ...row,
    status: row.isOver ? 'cancelled' : 'pending',
    attempts: row.attempts - 1,
  }),
  toStoredCode: (code) => failureCode.safeParse(code).data ?? 'provider-error',
  lockParents: lockCampaigns,
  describeSent: ({ campaignId, campaignName }) => ({ sourceId: campaignId, sourceName: campaignName }),
  // A message in its second or later attempt may have been accepted already in an attempt that was recorded as failed.
  isRepeated: ({ attempt }) => attempt > 1,
  getCampaignId: ({ campaignId }) => campaignId,
  onTransitions: updateCounters,
})

/** Locks the campaigns of messages, before the messages are locked (rule 10). */
async function lockCampaigns(tx: Context, ids: readonly string[]): Promise<void> {
  await tx.db
    .selectFrom('campaigns')
    .select('id')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('campaign_messages as m')
        .select('m.campaign_id')
        .where(isAmong('m.id', ids, 'uuid')),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
}

/** The outcome of a claimed message: one of the outbox, or skipped. */
export type CampaignOutcome = outbox.Outcome | { kind: 'skipped'; reason: SkipReason }

/** The message's state after an outcome. */
export function applyOutcome(ctx: Context, row: CampaignMessage, outcome: CampaignOutcome): CampaignMessage {
  const ended = { ...row, calledAt: null }
  if (outcome.kind === 'skipped') return { ...ended, status: 'skipped', skipReason: outcome.reason }
  if (outcome.kind === 'failed' && outcome.code === 'too-long') {
    return { ...ended, status: 'skipped', skipReason: outcome.code }
  }
  return outbox.applyOutcome(ctx, campaignMessages, row, outcome)
}

const counters: Record<
  'pending' | 'sent' | 'delivered' | 'read' | 'failed' | 'skipped' | 'cancelled',
  readonly string[]
> = {
  pending: ['pending', 'sending'],
  sent: ['sent', 'delivered', 'read'],
  delivered: ['delivered', 'read'],
  read: ['read'],
  failed: ['failed'],
  skipped: ['skipped'],
  cancelled: ['cancelled'],
}

/** Whether a message failed in a way that counts towards the campaign's failure rate (rule 3h). */
const isCampaignFailure = ({ status, code }: CampaignMessage): boolean =>
  status === 'failed' && code !== 'not-on-network' && code !== outbox.indeterminate.code

/** Whether a transition ends an attempt to send the message, because it was sent or failed. */
export const isAttempt = ({ before, after: { status } }: outbox.Transition<CampaignMessage>): boolean =>
  before.status === 'sending' && (counters.sent.includes(status) || status === 'failed')

/** Updates the counters of campaigns by the transitions of their messages, with one statement per campaign. */
async function updateCounters(
  tx: Context,
  moves: readonly outbox.Transition<CampaignMessage>[],
): Promise<void> {
  for (const [campaignId, its] of Map.groupBy(moves, (each) => each.after.campaignId)) {
    const difference = (counts: (row: CampaignMessage) => boolean): number =>
      its.reduce((sum, each) => sum + Number(counts(each.after)) - Number(counts(each.before)), 0)
    const blamed = difference(isCampaignFailure)
    await tx.db
      .updateTable('campaigns')
      .set((eb) => ({
        ...Object.fromEntries(
          Object.entries(counters).map(([counter, statuses]) => [
            counter,
            eb(
              counter as keyof typeof counters,
              '+',
              difference(({ status }) => statuses.includes(status)),
            ),
          ]),
        ),
        attempted_since_start: eb('attempted_since_start', '+', its.filter(isAttempt).length),
        failed_since_start: greatest<number>(sql`failed_since_start + ${blamed}::int`, sql`0`),
        updated_at: tx.now(),
      }))
      .where('id', '=', campaignId)
      .execute()
  }
}
