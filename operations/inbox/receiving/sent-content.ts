/** Reads the content of messages that other sections sent, by their ids in the message ledger. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import type { MediaRow } from './inbound.ts'

export interface SentContent {
  type: string
  text: string | null
  templateId: number | null
  media: MediaRow | null
  /** The user who sent it, for single sends and manual automations. */
  sentBy: string | null
}

/** The content of a message that its section has deleted. */
export const unknownContent: SentContent = {
  type: 'text',
  text: null,
  templateId: null,
  media: null,
  sentBy: null,
}

/** Reads contents by message id. The result has no messages that their section has deleted. */
export async function findSentContent(
  ctx: Context,
  messageIds: readonly string[],
): Promise<Map<string, SentContent>> {
  if (messageIds.length === 0) return new Map()
  const among = (column: string) => sql<boolean>`${sql.ref(column)} = any(${[...messageIds]}::uuid[])`
  const media = (path: string) => [
    sql<string | null>`${sql.raw(path)} ->> 'type'`.as('media_type'),
    sql<string | null>`${sql.raw(path)} ->> 'url'`.as('media_url'),
    sql<string | null>`${sql.raw(path)} ->> 'fileName'`.as('file_name'),
  ]
  const rows = await ctx.db
    .selectFrom('campaign_messages as m')
    .leftJoin('campaigns as c', 'c.id', 'm.campaign_id')
    .select([
      'm.id',
      'm.text',
      sql<number | null>`(c.content ->> 'officialapiTemplateId')::int`.as('template_id'),
      ...media(`(c.content -> 'media')`),
      sql<string | null>`null::uuid`.as('sent_by'),
    ])
    .where(among('m.id'))
    .unionAll(
      ctx.db
        .selectFrom('automation_executions as e')
        .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
        .select([
          'e.id',
          'e.text',
          'e.officialapi_template_id as template_id',
          ...media(`(e.message -> 'media')`),
          sql<string | null>`case when r.origin = 'manual' then r.created_by end`.as('sent_by'),
        ])
        .where(among('e.id')),
    )
    .unionAll(
      ctx.db
        .selectFrom('direct_messages as d')
        .select([
          'd.id',
          'd.text',
          'd.officialapi_template_id as template_id',
          sql<string | null>`d.type`.as('media_type'),
          'd.media_url',
          'd.media_file_name as file_name',
          'd.sent_by',
        ])
        .where(among('d.id')),
    )
    .execute()
  return new Map(rows.map((row) => [row.id, toSentContent(row)]))
}

function toSentContent(row: {
  text: string | null
  template_id: number | null
  media_type: string | null
  media_url: string | null
  file_name: string | null
  sent_by: string | null
}): SentContent {
  const common = { text: row.text, templateId: row.template_id, sentBy: row.sent_by }
  if (row.template_id !== null) return { ...common, type: 'template', media: null }
  if (row.media_url === null || row.media_type === null) return { ...common, type: 'text', media: null }
  return {
    ...common,
    type: row.media_type,
    media: {
      mediaId: null,
      // The file is not in the inbox's storage: `url` is the address that the section sent.
      key: null,
      url: row.media_url,
      contentType: null,
      fileName: row.file_name,
      size: null,
      status: 'ready',
    },
  }
}

/** Maps a ledger source to the message source of the API. */
export const toMessageSource = (source: string): string =>
  ({ direct: 'api', automation: 'automation', 'messaging-campaign': 'campaign' })[source] ?? 'other'
