import { sql } from 'kysely'
import { isOptedOut } from '#operations/messaging/door'
import type { exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { type ContactFilters, conditionsOf, contactRows } from './contacts.ts'

const atOnce = 1000
const fixed = ['phone', 'name', 'email', 'source', 'opted_out', 'created_at']

/** What `start` was given. */
function given(query: Record<string, unknown>): { listId: string; filters: ContactFilters } {
  const { listId, ...filters } = query as ContactFilters & { listId?: string }
  return { listId: listId ?? '', filters }
}

/** Newest first, as the list; the custom fields follow by name. */
export const contactsExport: exports.ExportSource = {
  title: 'Contacts',
  async columns(ctx, query) {
    const list = await ctx.db
      .selectFrom('contact_lists')
      .select('custom_field_names')
      .where('id', '=', given(query).listId)
      .executeTakeFirst()
    if (!list) throw refuse('not_found', 'The list was deleted meanwhile')
    return [...fixed, ...list.custom_field_names]
  },
  async *rows(ctx, query, columns) {
    const customFields = columns.slice(fixed.length)
    let before: string | null = null
    for (;;) {
      const page = await pageBefore(ctx, query, before)
      yield page.map((row) => {
        const values = row.custom_fields as Record<string, string>
        return [
          row.phone,
          row.name,
          row.email,
          row.source,
          row.opted_out,
          row.created_at,
          ...customFields.map((field) => values[field] ?? null),
        ]
      })
      before = page.at(-1)?.id ?? null
      if (page.length < atOnce) return
    }
  },
}

function pageBefore(ctx: Context, query: Record<string, unknown>, before: string | null) {
  const { listId, filters } = given(query)
  const conditions = conditionsOf(ctx, listId, filters)
  let rows = contactRows(ctx.db, conditions, (name) => name in conditions).select([
    'c.id',
    'c.phone',
    'c.name',
    'c.email',
    'c.source',
    'c.custom_fields',
    'c.created_at',
    isOptedOut(ctx.db, sql.ref('c.phone_key')).as('opted_out'),
  ])
  if (before) rows = rows.where('c.id', '<', before)
  return rows.orderBy('c.id', 'desc').limit(atOnce).execute()
}
