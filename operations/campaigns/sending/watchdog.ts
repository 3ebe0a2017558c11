/** Finds campaigns of all stores that do not proceed, because a worker died or a job was lost. */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { outbox } from '#operations/messaging/index'
import { greatestKnown } from '#runtime/database/sql'
import { minuteMs } from '#runtime/durations'

const stuckAfterMs = 2 * minuteMs
const dueAfterMs = 30_000
const batchSize = 1000

export interface FoundCampaign {
  store_id: string
  campaign_id: string
}

/** Finds scheduled campaigns that have been due for 30 seconds, so that their job should have run. */
export async function findDue(
  root: RootDatabase,
  now: Date,
): Promise<(FoundCampaign & { scheduled_at: Date })[]> {
  const rows = await root
    .selectFrom('campaigns')
    .select(['store_id', 'id as campaign_id', 'scheduled_at'])
    .where('status', '=', 'scheduled')
    .where('deleted_at', 'is', null)
    .where('scheduled_at', '<=', new Date(now.getTime() - dueAfterMs))
    .orderBy('scheduled_at')
    .limit(batchSize)
    .execute()
  return rows as (FoundCampaign & { scheduled_at: Date })[]
}

/** Finds campaigns in status `sending` that have had no progress for two minutes. */
export async function findStuck(root: RootDatabase, now: Date): Promise<FoundCampaign[]> {
  return root
    .selectFrom('campaigns')
    .select(['store_id', 'id as campaign_id'])
    .where('status', '=', 'sending')
    .where('deleted_at', 'is', null)
    .where(
      greatestKnown<Date>(sql.ref('last_progress_at'), sql.ref('next_batch_at')),
      '<=',
      new Date(now.getTime() - stuckAfterMs),
    )
    .limit(batchSize)
    .execute()
}

export interface DeadClaims extends FoundCampaign {
  status: string
  is_deleted: boolean
  /** The ids of the first hundred claimed messages. */
  message_ids: string[]
}

/** Finds campaigns with messages that dead workers have claimed. */
export async function findDeadClaims(root: RootDatabase, now: Date): Promise<DeadClaims[]> {
  return root
    .selectFrom('campaign_messages as m')
    .innerJoin('campaigns as c', (join) =>
      join.onRef('c.store_id', '=', 'm.store_id').onRef('c.id', '=', 'm.campaign_id'),
    )
    .select([
      'm.store_id',
      'm.campaign_id',
      'c.status',
      sql<boolean>`c.deleted_at is not null`.as('is_deleted'),
      sql<string[]>`(array_agg(m.id::text))[1:100]`.as('message_ids'),
    ])
    .where('m.status', '=', 'sending')
    .where('m.claimed_at', '<=', new Date(now.getTime() - outbox.deadAfterMs))
    .groupBy(['m.store_id', 'm.campaign_id', 'c.status', 'c.deleted_at'])
    .limit(batchSize)
    .execute()
}
