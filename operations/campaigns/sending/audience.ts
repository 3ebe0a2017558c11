/** Takes the snapshot of a campaign's audience. Later changes of the list do not affect the campaign. */
import { sql } from 'kysely'
import { metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { ApiError } from '#runtime/errors'
import type { CampaignRow } from '../rows.ts'
import type { FailureReason } from '../schema.ts'
import { failCampaign } from './completion.ts'

/**
 * Copies the list into messages, unless the campaign has a snapshot, and resizes its quota reservation to the number of
 * pending messages. The campaign becomes `failed` if nobody can be reached or the quota is too small.
 */
export async function takeSnapshot(ctx: Context, campaignId: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const campaign = (await tx.db
      .selectFrom('campaigns')
      .selectAll()
      .where('id', '=', campaignId)
      .where('status', '=', 'sending')
      .where('snapshot_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst()) as CampaignRow | undefined
    if (!campaign) return
    const { size, skipped } = await copyContacts(tx, campaign)
    const now = tx.now()
    await tx.db
      .updateTable('campaigns')
      .set({
        snapshot_at: now,
        audience_size: size,
        audience_opted_out: skipped,
        total: size,
        pending: size - skipped,
        skipped,
        last_progress_at: now,
        updated_at: now,
      })
      .where('id', '=', campaignId)
      .execute()
    const failure = await fitReservation(tx, campaign.reservation_id!, size - skipped)
    if (failure) await failCampaign(tx, { ...campaign, snapshot_at: now }, failure)
  })
}

/** Copies the whole list in one statement. Opted-out contacts become skipped messages. */
async function copyContacts(tx: Context, campaign: CampaignRow): Promise<{ size: number; skipped: number }> {
  const now = sql<Date>`${tx.now()}::timestamptz`
  const isOut = sql<boolean>`o.id is not null`
  return tx.db
    .with('copied', (db) =>
      db
        .insertInto('campaign_messages')
        .columns([
          'id',
          'campaign_id',
          'contact_id',
          'phone',
          'phone_key',
          'name',
          'email',
          'custom_fields',
          'status',
          'skip_reason',
          'reservation_id',
          'created_at',
          'updated_at',
        ])
        .expression((eb) =>
          eb
            .selectFrom('list_contacts as x')
            .leftJoin('opt_outs as o', 'o.phone_key', 'x.phone_key')
            .select([
              sql<string>`uuid_v7(${now})`.as('id'),
              sql<string>`${campaign.id}::uuid`.as('campaign_id'),
              'x.id as contact_id',
              'x.phone',
              'x.phone_key',
              'x.name',
              'x.email',
              'x.custom_fields',
              sql<string>`case when ${isOut} then 'skipped' else 'pending' end`.as('status'),
              sql<string>`case when ${isOut} then 'opted-out' end`.as('skip_reason'),
              sql<string>`case when ${isOut} then null else ${campaign.reservation_id}::uuid end`.as(
                'reservation_id',
              ),
              now.as('created_at'),
              now.as('updated_at'),
            ])
            .where('x.list_id', '=', campaign.list_id),
        )
        .onConflict((conflict) => conflict.columns(['store_id', 'campaign_id', 'phone_key']).doNothing())
        .returning('campaign_messages.status'),
    )
    .selectFrom('copied')
    .select([
      sql<number>`count(*)::int`.as('size'),
      sql<number>`(count(*) filter (where copied.status = 'skipped'))::int`.as('skipped'),
    ])
    .executeTakeFirstOrThrow()
}

async function fitReservation(
  tx: Context,
  reservationId: string,
  units: number,
): Promise<FailureReason | null> {
  if (units === 0) return 'empty-audience'
  try {
    await metering.resize(tx, reservationId, units)
    return null
  } catch (error) {
    if (error instanceof ApiError && error.code === 'forbidden') return 'quota-exceeded'
    throw error
  }
}
