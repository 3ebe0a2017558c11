/** Reads templates; the database builds their JSON. */

import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { matchesWords } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import type { MergedExtensions } from '#runtime/extensions'
import { JsonText } from '#runtime/operation'
import { isUsed } from './uses.ts'

/** Builds the JSON of a template, whose table must have the alias `t`. `now`: the current time. */
const templateJson = (
  db: Kysely<TenantTables>,
  now: RawBuilder<Date>,
  extensions: MergedExtensions,
): RawBuilder<unknown> =>
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
    pausedUntil: isoInstant('t.paused_until'),
    nextEditAt: sql`case when t.status in ('approved', 'pending') and t.next_edit_at > ${now}
      then ${isoInstant('t.next_edit_at')} end`,
    inUse: isUsed(db, sql<number>`t.id`, extensions),
    submittedAt: isoInstant('t.submitted_at'),
    reviewedAt: isoInstant('t.reviewed_at'),
    syncedAt: isoInstant('t.synced_at'),
    createdAt: isoInstant('t.created_at'),
    updatedAt: isoInstant('t.updated_at'),
  })

const byId = prepared(
  (db, values: { id: number; now: Date }, extensions) =>
    db
      .selectFrom('message_templates as t')
      .select(
        sql<string>`${templateJson(db, sql<Date>`${values.now}::timestamptz`, extensions)}::text`.as('text'),
      )
      .where('t.id', '=', values.id),
  { plan: 'once' },
)

export const toNotFound = () => refuse('not_found', 'There is no such template')

/** Parses the id of a path; refuses an invalid one. */
export function parseTemplateId(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text) || Number(text) > 2_147_483_647) throw toNotFound()
  return Number(text)
}

/** Refuses an unknown template. */
export async function readTemplate(ctx: Context, id: number): Promise<JsonText> {
  const [row] = await byId(ctx, { id, now: ctx.now() })
  if (!row) throw toNotFound()
  return new JsonText(row.text)
}

export interface TemplateFilters {
  status?: string[] | undefined
  category?: string | undefined
  language?: string | undefined
  /** Matches name and body, ignoring case. */
  search?: string | undefined
}

/** Lists templates, newest first. `now`: the current time. */
export const listTemplates = preparedList<TemplateFilters & { now: Date }>((db, values, has, extensions) => {
  let rows = db.selectFrom('message_templates as t')
  if (has('status')) rows = rows.where('t.status', '=', sql<string>`any(${values.status}::text[])`)
  if (has('category')) rows = rows.where('t.category', '=', values.category!)
  if (has('language')) rows = rows.where('t.language', '=', values.language!)
  if (has('search')) {
    rows = rows.where(matchesWords(['t.name', 't.body'], values.search))
  }
  return {
    rows,
    item: templateJson(db, sql<Date>`${values.now}::timestamptz`, extensions),
    order: [['t.id', 'desc']],
    page: 't',
  }
})
