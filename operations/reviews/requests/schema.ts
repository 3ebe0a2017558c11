import { count, day, id, instant, named, object, paging, queryList, searchText, z } from '#runtime/schema'
import { itemResult } from '../bulk-schema.ts'

const dispatchStatuses = [
  'scheduled',
  'sending',
  'sent',
  'reviewed',
  'failed',
  'cancelled',
  'skipped',
] as const

export const reviewDispatch = named(
  'ReviewDispatch',
  object({
    id,
    orderId: z.string(),
    orderNumber: z.string(),
    orderItemId: z.string(),
    productId: z.string(),
    productName: z.string(),
    variantId: z.string().nullable(),
    customerName: z.string().nullable(),
    customerEmail: z.string().nullable(),
    customerPhone: z.string().nullable(),
    channel: z.enum(['email', 'messaging']).describe('Decided when it was planned'),
    status: z.enum(dispatchStatuses),
    reason: z.string().nullable().describe('Why it failed or was skipped'),
    scheduledAt: instant,
    sentAt: instant.nullable(),
    nextReminderAt: instant.nullable(),
    remindersSent: count,
    reviewId: id.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)

export const dispatchListQuery = object({
  ...paging,
  status: queryList(z.enum([...dispatchStatuses, 'all']))
    .default(['scheduled'])
    .describe('Repeated or comma-separated; all for every one'),
  channel: z.enum(['email', 'messaging']).optional().describe('Only requests sent through this channel'),
  search: searchText('In customer, order number and product', 100),
  startDate: day.optional().describe('Filters by scheduledAt'),
  endDate: day.optional(),
})

/** Which requests an operation is for. `parseTargets` checks that exactly one of the fields is given. */
export const dispatchTargets = object({
  ids: z.array(id).min(1).max(500).optional().describe('Only these'),
  all: z.literal(true).optional().describe('Every scheduled one; the answer then lists none'),
})

export const cancelled = object({ cancelled: count, failed: count, data: z.array(itemResult) })
