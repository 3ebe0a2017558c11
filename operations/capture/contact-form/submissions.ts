/** Submissions of the contact form: list, export and deletion. */
import type { Kysely } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { preparedPages } from '#runtime/database/list'
import { matchesSearch, type SearchFilter, toSearchFilter } from '#runtime/database/search'

const submissionJson = jsonObject({
  id: 'f.id',
  name: 'f.name',
  email: 'f.email',
  phone: 'f.phone',
  message: 'f.message',
  values: 'f.values',
  pageUrl: 'f.page_url',
  crmListId: 'f.crm_list_id',
  crmStatus: 'f.crm_status',
  contactId: 'f.contact_id',
  createdAt: isoInstant('f.created_at'),
})

export interface SubmissionFilters extends days.DayRangeQuery {
  search?: string | undefined
}

type Conditions = SearchFilter & days.DayFilter

/** The selection for list and export, newest first. Refuses a start date after the end date. */
export const submissions = {
  filters: (ctx: Context, { search, ...range }: SubmissionFilters): Conditions => ({
    ...toSearchFilter(ctx, search),
    ...days.toDayFilter(ctx, range),
  }),
  rows(db: Kysely<TenantTables>, values: Required<Conditions>, has: (name: keyof Conditions) => boolean) {
    let rows = db.selectFrom('contact_form_submissions as f')
    if (has('startDate')) rows = rows.where(days.isWithin('f.created_at', values))
    if (has('search'))
      rows = rows.where(matchesSearch(['f.name', 'f.email', 'f.message'], 'f.phone', values, has))
    return rows
  },
  order: [['f.id', 'desc']],
} as const

/** A page of submissions. */
export const listSubmissions = preparedPages(
  submissions,
  () => ({ item: submissionJson, page: 'f', table: 'contact_form_submissions' }),
  { text: ['search'] },
)

/** Deletes submissions in one statement. Ignores ids of other stores. */
export async function deleteSubmissions(ctx: Context, ids: readonly string[]): Promise<{ deleted: number }> {
  const deleted = await ctx.db
    .deleteFrom('contact_form_submissions')
    .where('id', 'in', [...new Set(ids)])
    .returning('id')
    .execute()
  return { deleted: deleted.length }
}
