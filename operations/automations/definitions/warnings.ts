/** Builds the SQL that lists why an automation would not send now. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { MergedExtensions } from '#runtime/extensions'

type Db = Kysely<TenantTables>
/** Builds an SQL expression: whether the section reviews sends its own review requests. */
export type ReviewRequests = (db: Db) => RawBuilder<boolean>

/** The first message and the flow's messages, as rows `m (message)`. Needs the alias `a`. */
const messages = sql`jsonb_array_elements(jsonb_build_array(a.message)
  || coalesce(jsonb_path_query_array(a.flow, '$.steps[*].message'), '[]')) as m (message)`
const templateId = sql<number>`(m.message ->> 'officialapiTemplateId')::int`

/** Builds a JSON list of the warning codes that apply to `a`, the alias of a row of `automations`. */
export function warningsJson(db: Db, { reviewRequests }: MergedExtensions): RawBuilder<unknown> {
  const selected = db.selectFrom('stores as s').select('s.messaging_connection_type')
  const canSend = db
    .selectFrom('stores as s')
    .innerJoin('messaging_connections as c', 'c.type', 's.messaging_connection_type')
    .select('c.type')
    .where('c.status', '=', sql.lit('connected'))
  const template = db.selectFrom('message_templates as t').where('t.id', '=', templateId)
  const isOfficial = sql`(${selected}) = 'official'`
  const any = (what: RawBuilder<unknown>) => sql`exists (select from ${messages} where ${what})`
  const codes: [string, RawBuilder<unknown>][] = [
    ['inactive', sql`not a.is_active`],
    ['not-connected', sql`not exists (${canSend})`],
    ['template-missing', sql`${isOfficial} and ${any(sql`not exists (${template.select('t.id')})`)}`],
    [
      'template-not-approved',
      sql`${isOfficial} and ${any(sql`exists (${template.select('t.id').where('t.status', '<>', sql.lit('approved'))})`)}`,
    ],
    ['text-missing', sql`(${selected}) in ('qr', 'shared') and ${any(sql`m.message ->> 'text' is null`)}`],
    ['review-requests-on', sql`a.type = 'review-request' and ${reviewRequests?.(db) ?? sql<boolean>`false`}`],
  ]
  const each = codes.map(([code, holds]) => sql`case when ${holds} then ${sql.lit(code)} end`)
  return sql`to_json(array_remove(array[${sql.join(each)}]::text[], null))`
}
