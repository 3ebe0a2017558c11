import { sql } from 'kysely'
import type { exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type SubmissionFilters, submissionConditions, submissionRows } from './submissions.ts'

const atOnce = 1000
const fixed = ['created_at', 'name', 'email', 'phone', 'message', 'page_url']

function rowsOf(ctx: Context, query: SubmissionFilters) {
  const conditions = submissionConditions(ctx, query)
  return submissionRows(ctx.db, conditions as Required<typeof conditions>, (name) => name in conditions)
}

/** Newest first, as the list; then every other key that one of them has, by name. */
export const submissionsExport: exports.ExportSource = {
  title: 'Contact form submissions',
  async columns(ctx, query) {
    const keys = await rowsOf(ctx, query)
      .select(sql<string>`jsonb_object_keys(f.values)`.as('key'))
      .distinct()
      .execute()
    return [...fixed, ...keys.map(({ key }) => key).sort()]
  },
  async *rows(ctx, query, columns) {
    const others = columns.slice(fixed.length)
    let before: string | null = null
    for (;;) {
      const page = await pageBefore(ctx, query, before)
      yield page.map((row) => {
        const values = row.values as Record<string, string | boolean>
        return [
          row.created_at,
          row.name,
          row.email,
          row.phone,
          row.message,
          row.page_url,
          ...others.map((key) => values[key] ?? null),
        ]
      })
      before = page.at(-1)?.id ?? null
      if (page.length < atOnce) return
    }
  },
}

function pageBefore(ctx: Context, query: SubmissionFilters, before: string | null) {
  let rows = rowsOf(ctx, query)
  if (before) rows = rows.where('f.id', '<', before)
  return rows.selectAll('f').orderBy('f.id', 'desc').limit(atOnce).execute()
}
