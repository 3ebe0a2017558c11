/** What the contact form caught: listed newest first, deleted by hand. */
import type { Kysely } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { pagesOf } from '#runtime/database/list'
import { isFound, type Sought, sought } from '#runtime/database/search'

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
  createdAt: instantOf('f.created_at'),
})

export interface SubmissionFilters extends days.AskedDays {
  search?: string | undefined
}

type Conditions = Sought & days.GivenDays

/** Newest first. Refuses days that are turned around. */
export const submissions = {
  filters: (ctx: Context, { search, ...range }: SubmissionFilters): Conditions => ({
    ...sought(ctx, search),
    ...days.givenDays(ctx, range),
  }),
  rows(db: Kysely<TenantTables>, values: Required<Conditions>, has: (name: keyof Conditions) => boolean) {
    let rows = db.selectFrom('contact_form_submissions as f')
    if (has('startDate')) rows = rows.where(days.isWithin('f.created_at', values))
    if (has('search')) rows = rows.where(isFound(['f.name', 'f.email', 'f.message'], 'f.phone', values, has))
    return rows
  },
  order: [['f.id', 'desc']],
} as const

/** A page of the submissions. */
export const listSubmissions = pagesOf(
  submissions,
  () => ({ item: submissionJson, page: 'f', table: 'contact_form_submissions' }),
  { text: ['search'] },
)

/** Deletes submissions; those that this store does not have do not count. One statement. */
export async function deleteSubmissions(ctx: Context, ids: readonly string[]): Promise<{ deleted: number }> {
  const deleted = await ctx.db
    .deleteFrom('contact_form_submissions')
    .where('id', 'in', [...new Set(ids)])
    .returning('id')
    .execute()
  return { deleted: deleted.length }
}
