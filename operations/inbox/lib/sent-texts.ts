/** How messages of other sections read, by their ids in the ledger. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'

export interface SentText {
  text: string | null
  templateId: number | null
}

/** Those that a section still has; what it has not is shown without its text. */
export async function textsOf(ctx: Context, messageIds: readonly string[]): Promise<Map<string, SentText>> {
  if (messageIds.length === 0) return new Map()
  const rows = await ctx.db
    .selectFrom('campaign_messages as m')
    .leftJoin('campaigns as c', 'c.id', 'm.campaign_id')
    .select([
      'm.id',
      'm.text',
      sql<number | null>`(c.content->>'officialapiTemplateId')::int`.as('template_id'),
    ])
    .where(sql<boolean>`m.id = any(${messageIds}::uuid[])`)
    .unionAll(
      ctx.db
        .selectFrom('automation_executions')
        .select(['id', 'text', 'officialapi_template_id as template_id'])
        .where(sql<boolean>`id = any(${messageIds}::uuid[])`),
    )
    .execute()
  return new Map(rows.map((row) => [row.id, { text: row.text, templateId: row.template_id }]))
}

/** Who sent messages of automations by hand, by message. */
export async function sendersOf(ctx: Context, messageIds: readonly string[]): Promise<Map<string, string>> {
  if (messageIds.length === 0) return new Map()
  const rows = await ctx.db
    .selectFrom('automation_executions as e')
    .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
    .select(['e.id', 'r.created_by'])
    .where(sql<boolean>`e.id = any(${[...messageIds]}::uuid[])`)
    .where('r.origin', '=', 'manual')
    .execute()
  return new Map(rows.flatMap((row) => (row.created_by === null ? [] : [[row.id, row.created_by]])))
}

/** Where the inbox says a message came from. */
export const sourceOf = (source: string): string =>
  ({ direct: 'api', automation: 'automation', 'messaging-campaign': 'campaign' })[source] ?? 'other'
