import { day, id, instant, named, object, searchText, z } from '#runtime/schema'

const subscriberStatus = z.enum(['subscribed', 'unsubscribed'])

/** Filters of the list of subscribers and of its export. */
export const subscriberFilters = {
  search: searchText('In name, email or digits of the phone'),
  status: subscriberStatus.optional().describe('Only subscribers with this state'),
  startDate: day.optional().describe('First day of `createdAt`'),
  endDate: day.optional().describe('Last day of `createdAt`'),
}

export const subscriber = named(
  'Subscriber',
  object({
    id,
    email: z.string().nullable(),
    phone: z.string().nullable().describe('E.164'),
    name: z.string().nullable(),
    status: subscriberStatus,
    source: z.enum(['popup', 'contact-form']),
    consent: object({
      email: z.boolean(),
      phone: z.boolean(),
      text: z.string().nullable().describe('The text that was ticked'),
      at: instant.nullable(),
    }),
    prizeLabel: z.string().nullable(),
    couponCode: z.string().nullable(),
    couponStatus: z.enum(['pending', 'issued', 'failed']).nullable(),
    pageUrl: z.string().nullable(),
    device: z.enum(['desktop', 'mobile']).nullable(),
    mailproviderStatus: z
      .enum(['added', 'updated', 'unsubscribed', 'invalid'])
      .nullable()
      .describe('Answer of the email provider; null: not pushed'),
    mailproviderSyncedAt: instant.nullable(),
    unsubscribedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)
