import { sql } from 'kysely'
import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { contactFormExport } from '../../handles.ts'
import { type SubmissionFilters, submissions } from '../submissions.ts'

export default defineExport(contactFormExport, {
  title: 'Contact form submissions',
  description: 'Emails the submissions of the form as CSV',
  rows: (ctx, query: SubmissionFilters) => selectMatching(submissions, ctx, query),
  order: submissions.order,
  columns: {
    created_at: 'f.created_at',
    name: 'f.name',
    email: 'f.email',
    phone: 'f.phone',
    message: 'f.message',
    page_url: 'f.page_url',
  },
  more: {
    in: 'f.values',
    as: 'values',
    /** The names of the columns: all keys that occur in any exported submission. */
    async names(ctx, query) {
      const keys = await selectMatching(submissions, ctx, query)
        .select(sql<string>`jsonb_object_keys(f.values)`.as('key'))
        .distinct()
        .execute()
      return keys.map(({ key }) => key).sort()
    },
  },
})
