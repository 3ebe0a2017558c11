/** Rows of single sends. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { JsonText } from '#runtime/operation'

const byId = prepared(
  (db, values: { id: string }) =>
    db
      .selectFrom('direct_messages as m')
      .select(
        sql<string>`${jsonObject({
          id: 'm.id',
          purpose: 'm.purpose',
          phone: 'm.phone',
          name: 'm.name',
          type: 'm.type',
          text: 'm.text',
          mediaUrl: 'm.media_url',
          officialapiTemplateId: 'm.officialapi_template_id',
          templateParameters: 'm.template_parameters',
          connectionType: 'm.connection_type',
          status: 'm.status',
          error: sql`case when m.error_code is not null
            then json_build_object('code', m.error_code, 'message', m.error_message) end`,
          sentAt: instantOf('m.sent_at'),
          deliveredAt: instantOf('m.delivered_at'),
          readAt: instantOf('m.read_at'),
          failedAt: instantOf('m.failed_at'),
          createdAt: instantOf('m.created_at'),
          updatedAt: instantOf('m.updated_at'),
        })}::text`.as('text'),
      )
      .where('m.id', '=', values.id),
  { plan: 'once' },
)

/** The JSON of a SentMessage. */
export async function readSend(ctx: Context, id: string): Promise<JsonText> {
  const [row] = await byId(ctx, { id })
  if (!row) throw new Error(`No single send ${id}`)
  return new JsonText(row.text)
}
