import { count, day, id, instant, money, named, object, z } from '#runtime/schema'

export const importKind = z.enum(['ecomplatform', 'csv', 'newsletter'])

/** The latest import or sync of a list. */
export const listImport = named(
  'ListImport',
  object({
    jobId: id,
    kind: importKind,
    status: z.enum(['queued', 'running', 'completed', 'failed']),
    total: count.nullable().describe('Rows, or people who match; null until known'),
    processed: count.describe('added + updated + unchanged + invalid + excluded'),
    added: count,
    updated: count,
    unchanged: count,
    invalid: count,
    excluded: count.describe('Removed from the list by hand: a sync leaves them out'),
    foreignPhones: count.describe(
      "Phones of another country than the store's: check them, they may have been misread",
    ),
    errors: z
      .array(object({ line: z.number().int().nullable(), reason: z.string() }))
      .describe('The first 100; the header is line 1'),
    failureReason: z.string().nullable().describe('While it is running: what it waits for'),
    startedAt: instant.nullable(),
    finishedAt: instant.nullable(),
  }),
)

const orders = z.number().int().min(0).max(100_000)
const days = z.number().int().min(1).max(3650)

/** Filters for the platform's customers. A customer must match every filter that is set (rule 6). */
export const customerFilters = named(
  'CustomerFilters',
  object({
    ordersMin: orders.describe(
      'Paid orders that were not cancelled, of all time, as the platform counts them',
    ),
    ordersMax: orders,
    totalSpentMin: money.describe('In those orders'),
    totalSpentMax: money,
    firstOrderFrom: day,
    firstOrderTo: day,
    lastOrderFrom: day,
    lastOrderTo: day,
    orderedWithinDays: days.describe('Last order on or after today minus so many days'),
    notOrderedForDays: days.describe('At least one order, the last before today minus so many days'),
    acceptsMarketing: z
      .boolean()
      .describe(
        'true: only who agreed to marketing at the shop, which most platforms ask for by email. Left out: with and without consent',
      ),
  }).partial(),
)
export type CustomerFilters = z.infer<typeof customerFilters>

export const newsletterFilters = named(
  'SubscriberFilters',
  object({ subscribedFrom: day, subscribedTo: day }).partial(),
)
export type NewsletterFilters = z.infer<typeof newsletterFilters>

type Bounds<F> = readonly (readonly [from: keyof F & string, to: keyof F & string])[]

const customerBounds: Bounds<CustomerFilters> = [
  ['ordersMin', 'ordersMax'],
  ['totalSpentMin', 'totalSpentMax'],
  ['firstOrderFrom', 'firstOrderTo'],
  ['lastOrderFrom', 'lastOrderTo'],
]
const subscriberBounds: Bounds<NewsletterFilters> = [['subscribedFrom', 'subscribedTo']]

function refuseCrossedBounds<F extends object>(
  filters: F,
  bounds: Bounds<F>,
  context: z.RefinementCtx,
): void {
  for (const [from, to] of bounds) {
    const [low, high] = [filters[from], filters[to]]
    if (low == null || high == null || low <= high) continue
    context.addIssue({ code: 'custom', path: [from], message: `must not be more than ${to}` })
  }
}

/**
 * The filters in a request body. Lower bounds must not exceed upper bounds. The last order is filtered by dates or by
 * relative days, not by both.
 */
export const customerFiltersInput = customerFilters.superRefine((filters, context) => {
  refuseCrossedBounds(filters, customerBounds, context)
  for (const relative of ['orderedWithinDays', 'notOrderedForDays'] as const) {
    if (filters[relative] === undefined) continue
    if (filters.lastOrderFrom === undefined && filters.lastOrderTo === undefined) continue
    const message = 'goes without lastOrderFrom and lastOrderTo: leave one or the other out'
    context.addIssue({ code: 'custom', path: [relative], message })
  }
})
export const newsletterFiltersInput = newsletterFilters.superRefine((filters, context) =>
  refuseCrossedBounds(filters, subscriberBounds, context),
)
