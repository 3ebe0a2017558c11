/** Messages of campaigns leave by the outbox: where they stand, and the counters that move with them (rule 4). */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { greatest } from '#runtime/database/sql'
import { failureCode, type SkipReason } from '../schema.ts'

export interface CampaignMessage extends outbox.Standing {
  campaignId: string
  campaignName: string
  /** Its campaign was cancelled or deleted: nothing more of it leaves. */
  isOver: boolean
  skipReason: SkipReason | null
  text: string | null
  attempts: number
  claimId: string | null
  claimedAt: Date | null
}

export const campaignMessages = outbox.lane<CampaignMessage>()({
  kind: 'cm',
  source: 'messaging-campaign',
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
  joined: (messages) =>
    messages
      .innerJoin('campaigns as c', 'c.id', 'm.campaign_id')
      .select([
        'c.name as campaignName',
        sql<boolean>`c.status = 'cancelled' or c.deleted_at is not null`.as('isOver'),
      ]),
  leaving: ['sending'],
  waiting: ['pending'],
  claim: ['claim_id', 'claimed_at', 'called_at'],
  requeued: (_tx, row) => ({
    ...row,
    status: row.isOver ? 'cancelled' : 'pending',
    attempts: row.attempts - 1,
  }),
  codeOf: (code) => failureCode.safeParse(code).data ?? 'provider-error',
  hold: holdCampaigns,
  departing: ({ campaignId, campaignName }) => ({ sourceId: campaignId, sourceName: campaignName }),
  // A retry may be of one that had been accepted.
  isRepeated: ({ attempt }) => attempt > 1,
  campaignOf: ({ campaignId }) => campaignId,
  moved,
})

/** Campaigns before their messages (rule 10). */
async function holdCampaigns(tx: Context, ids: readonly string[]): Promise<void> {
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

/** What became of one that was claimed. */
export type Fate = outbox.Fate | { is: 'skipped'; reason: SkipReason }

/** Where a message stands after its fate. */
export function after(ctx: Context, row: CampaignMessage, fate: Fate): CampaignMessage {
  const ended = { ...row, calledAt: null }
  if (fate.is === 'skipped') return { ...ended, status: 'skipped', skipReason: fate.reason }
  if (fate.is === 'failed' && fate.code === 'too-long') {
    return { ...ended, status: 'skipped', skipReason: fate.code }
  }
  return outbox.fated(ctx, campaignMessages, row, fate)
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

/** A failure that may be the campaign's own fault (rule 3h). */
const isBlamed = ({ status, code }: CampaignMessage): boolean =>
  status === 'failed' && code !== 'not-on-network' && code !== outbox.unknownOutcome.code

/** The provider, or nobody, has the last word on it. */
export const isAttempt = ({ before, after: { status } }: outbox.Move<CampaignMessage>): boolean =>
  before.status === 'sending' && (counters.sent.includes(status) || status === 'failed')

/** By the differences, one statement a campaign. */
async function moved(tx: Context, moves: readonly outbox.Move<CampaignMessage>[]): Promise<void> {
  for (const [campaignId, its] of Map.groupBy(moves, (each) => each.after.campaignId)) {
    const difference = (counts: (row: CampaignMessage) => boolean): number =>
      its.reduce((sum, each) => sum + Number(counts(each.after)) - Number(counts(each.before)), 0)
    const blamed = difference(isBlamed)
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
