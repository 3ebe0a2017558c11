/** Fields common to promotions, bundles and gifts. */

import { combinesWith, scheduleFields, schedulesShown } from '#operations/storefront/index'
import { count, currency, decimals, id, instant, line, money, object, searchText, z } from '#runtime/schema'

const syncStatus = z
  .enum(['none', 'synced', 'pending', 'failed', 'suspended'])
  .describe(
    'How your platform has it. none: nothing should be there; pending: a change is under way; suspended: the plan or subscription does not allow it now',
  )

/** Fields of every discount as returned. A kind may override `status` and `combinesWith`. */
export const discountShown = {
  id,
  name: line(1, 120).describe('Shown at checkout'),
  isActive: z.boolean(),
  ...schedulesShown,
  combinesWith,
  status: z.enum(['active', 'scheduled', 'paused', 'ended']),
  syncStatus,
  syncError: z.string().nullable().describe("Your platform's reason, where it refused"),
  syncedAt: instant.nullable().describe('When both sides last agreed'),
  usageCount: count.describe('Orders that used it, as of the last hour'),
  discountTotal: money.describe('What it took off in all; 0 where your platform does not add it up'),
  currency,
}
export const discountTimes = { createdAt: instant, updatedAt: instant }
/** Fields that change without a write of the merchant. They are excluded from the ETag. */
export const discountMoves = [
  'status',
  'syncStatus',
  'syncError',
  'syncedAt',
  'usageCount',
  'discountTotal',
  'updatedAt',
]

export const discountInput = {
  name: line(1, 120),
  isActive: z.boolean(),
  ...scheduleFields,
  combinesWith: combinesWith.partial().strict(),
}

/** A discount percentage: more than 0, at most 100. */
export const percentageOff = z
  .number()
  .gt(0)
  .max(100)
  .refine(...decimals(4))

export const activeInput = object({ isActive: z.boolean() })

/** Filters of the lists. */
export const statusFilter = z
  .enum(['active', 'scheduled', 'paused', 'ended'])
  .optional()
  .describe('Only those with this state')
export const searchFilter = searchText('In the name')
