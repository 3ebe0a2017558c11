import { id, instant, named, object, text, z } from '#runtime/schema'

export const optOutSource = z.enum(['manual', 'reply', 'provider'])

/** Filters of the list, and of its export. */
export const optOutFilters = {
  search: z
    .string()
    .regex(/^\+?\d{1,40}$/, 'must be 1 to 40 digits')
    .optional()
    .describe('Digits within the phone'),
  source: optOutSource.optional(),
}

export const optOut = named(
  'OptOut',
  object({
    id,
    phone: z.string().describe('E.164'),
    note: text(1, 500).nullable(),
    source: optOutSource.describe(
      'manual, reply (answered with a stop word), provider (stopped at the network)',
    ),
    campaignId: id.nullable().describe('The campaign that was answered to'),
    createdAt: instant,
    updatedAt: instant,
  }),
)
