/** The row of a campaign, as whoever writes it holds it. */
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'
import { noCampaign } from './json.ts'
import type { CampaignContent, SendWindow } from './schema.ts'

export type CampaignRow = Row<'campaigns'> & { content: CampaignContent; send_window: SendWindow | null }

/** Locked until the transaction ends; refuses one that there is not. */
export async function lockCampaign(ctx: Context, id: string): Promise<CampaignRow> {
  const there = ctx.db.selectFrom('campaigns').selectAll().where('deleted_at', 'is', null)
  return (await oneRow(there.forNoKeyUpdate(), id, noCampaign)) as CampaignRow
}
