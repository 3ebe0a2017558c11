import { day, id, instant, named, object, searchText, z } from '#runtime/schema'

/** Filters of the list of submissions and of its export. */
export const submissionFilters = {
  search: searchText('In name, email, phone or message'),
  startDate: day.optional().describe('First day of `createdAt`'),
  endDate: day.optional().describe('Last day of `createdAt`'),
}

const crmStatus = z.enum(['added', 'already-in-list', 'no-phone', 'list-missing'])

export const submission = named(
  'Submission',
  object({
    id,
    name: z.string().nullable(),
    email: z.string().nullable(),
    phone: z.string().nullable().describe('E.164'),
    message: z.string().nullable(),
    values: z.record(z.union([z.string(), z.boolean()])).describe('Values of the other keys of the form'),
    pageUrl: z.string().nullable(),
    crmListId: id.nullable(),
    crmStatus: crmStatus.nullable().describe('Its outcome in the contact list; null: no list was set'),
    contactId: id.nullable(),
    createdAt: instant,
  }),
)
