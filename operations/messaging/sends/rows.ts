import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
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
          sentAt: isoInstant('m.sent_at'),
          deliveredAt: isoInstant('m.delivered_at'),
          readAt: isoInstant('m.read_at'),
          failedAt: isoInstant('m.failed_at'),
          createdAt: isoInstant('m.created_at'),
          updatedAt: isoInstant('m.updated_at'),
        })}::text`.as('text'),
      )
      .where('m.id', '=', values.id),
  { plan: 'once' },
)

/** Reads a single send as the JSON of a SentMessage. */
export async function readSend(ctx: Context, id: string): Promise<JsonText> {
  const [row] = await byId(ctx, { id })
  if (!row) throw new Error(`No single send ${id}`)
  return new JsonText(row.text)
}
