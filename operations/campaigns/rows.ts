/** The row of a campaign, as whoever writes it holds it. */
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { noCampaign } from './json.ts'
import type { CampaignContent, SendWindow } from './schema.ts'

export type CampaignRow = Row<'campaigns'> & { content: CampaignContent; send_window: SendWindow | null }

/** Locked until the transaction ends; refuses one that there is not. */
export async function lockCampaign(ctx: Context, id: string): Promise<CampaignRow> {
  const row = isId(id)
    ? await ctx.db
        .selectFrom('campaigns')
        .selectAll()
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .forNoKeyUpdate()
        .executeTakeFirst()
    : undefined
  if (!row) throw noCampaign()
  return row as CampaignRow
}
