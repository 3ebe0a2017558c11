import { id, instant, named, object, text, z } from '#runtime/schema'
import { hasPhoneDigits } from '#runtime/values/phone'

const optOutSource = z.enum(['manual', 'reply', 'provider'])

/** Filters of the list of opt-outs and of its export. */
export const optOutFilters = {
  search: text(1, 40)
    .refine(hasPhoneDigits, 'must be digits of a phone')
    .optional()
    .describe('Digits within the phone, spelled as a phone may be'),
  source: optOutSource.optional().describe('Only opt-outs that came this way'),
}

export const optOut = named(
  'OptOut',
  object({
    id,
    phone: z.string().describe('E.164, or the WhatsApp id of a person whose phone is hidden'),
    note: text(1, 500).nullable(),
    source: optOutSource.describe(
      'manual, reply (answered with a stop word), provider (stopped at the network)',
    ),
    campaignId: id.nullable().describe('The campaign that was answered to'),
    createdAt: instant,
    updatedAt: instant,
  }),
)
