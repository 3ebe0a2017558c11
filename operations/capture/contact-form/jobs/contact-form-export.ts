import { sql } from 'kysely'
import { exportOf } from '#operations/store/door'
import { matching } from '#runtime/database/list'
import { contactFormExport } from '../../handles.ts'
import { type SubmissionFilters, submissions } from '../submissions.ts'

export default exportOf(contactFormExport, {
  title: 'Contact form submissions',
  description: 'Emails the submissions of the form as CSV',
  rows: (ctx, query: SubmissionFilters) => matching(submissions, ctx, query),
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
    /** Every key that one of them has. */
    async names(ctx, query) {
      const keys = await matching(submissions, ctx, query)
        .select(sql<string>`jsonb_object_keys(f.values)`.as('key'))
        .distinct()
        .execute()
      return keys.map(({ key }) => key).sort()
    },
  },
})
