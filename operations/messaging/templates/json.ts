/** Templates as they are read: their JSON made by the database. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import type { Wired } from '#runtime/wiring'
import { isUsed } from './uses.ts'

/** Needs the alias `t`; `now`: the clock's. */
const templateJson = (db: Kysely<TenantTables>, now: RawBuilder<Date>, wired: Wired): RawBuilder<unknown> =>
  jsonObject({
    id: 't.id',
    name: 't.name',
    language: 't.language',
    category: 't.category',
    header: 't.header',
    body: 't.body',
    footer: 't.footer',
    buttons: 't.buttons',
    examples: 't.examples',
    status: 't.status',
    rejectionReason: 't.rejection_reason',
    quality: 't.quality',
    placeholders: 't.placeholders',
    pausedUntil: instantOf('t.paused_until'),
    nextEditAt: sql`case when t.status in ('approved', 'pending') and t.next_edit_at > ${now}
      then ${instantOf('t.next_edit_at')} end`,
    inUse: isUsed(db, sql<number>`t.id`, wired),
    submittedAt: instantOf('t.submitted_at'),
    reviewedAt: instantOf('t.reviewed_at'),
    syncedAt: instantOf('t.synced_at'),
    createdAt: instantOf('t.created_at'),
    updatedAt: instantOf('t.updated_at'),
  })

const byId = prepared(
  (db, values: { id: number; now: Date }, wired) =>
    db
      .selectFrom('message_templates as t')
      .select(sql<string>`${templateJson(db, sql<Date>`${values.now}::timestamptz`, wired)}::text`.as('text'))
      .where('t.id', '=', values.id),
  { plan: 'once' },
)

export const noTemplate = () => refuse('not_found', 'There is no such template')

/** The number in a path; refuses what cannot be one. */
export function templateIdOf(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text) || Number(text) > 2_147_483_647) throw noTemplate()
  return Number(text)
}

/** Refuses one that there is not. */
export async function readTemplate(ctx: Context, id: number): Promise<JsonText> {
  const [row] = await byId(ctx, { id, now: ctx.now() })
  if (!row) throw noTemplate()
  return new JsonText(row.text)
}

export interface TemplateFilters {
  status?: string[] | undefined
  category?: string | undefined
  language?: string | undefined
  /** Within name and body, without case. */
  search?: string | undefined
}

/** Newest first. `now`: the clock's. */
export const listTemplates = preparedList<TemplateFilters & { now: Date }>((db, values, has, wired) => {
  let rows = db.selectFrom('message_templates as t')
  if (has('status')) rows = rows.where('t.status', '=', sql<string>`any(${values.status}::text[])`)
  if (has('category')) rows = rows.where('t.category', '=', values.category!)
  if (has('language')) rows = rows.where('t.language', '=', values.language!)
  if (has('search')) {
    const search = sql<string>`lower(${values.search}::text)`
    rows = rows.where(
      sql<boolean>`(strpos(lower(t.name), ${search}) > 0 or strpos(lower(t.body), ${search}) > 0)`,
    )
  }
  return {
    rows,
    item: templateJson(db, sql<Date>`${values.now}::timestamptz`, wired),
    order: [['t.id', 'desc']],
    page: 't',
  }
})
