/** Reads and locks a campaign's row before a change. */
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { noCampaign } from './json.ts'
import type { CampaignContent, SendWindow } from './schema.ts'

export type CampaignRow = Row<'campaigns'> & { content: CampaignContent; send_window: SendWindow | null }

/** Locks the row until the transaction ends. Refuses an unknown campaign. */
export async function lockCampaign(ctx: Context, id: string): Promise<CampaignRow> {
  const existing = ctx.db.selectFrom('campaigns').selectAll().where('deleted_at', 'is', null)
  return (await requireRow(existing.forNoKeyUpdate(), id, noCampaign)) as CampaignRow
}
