/** What a discount may be added to. */
import { object, z } from '#runtime/schema'

export const combinesWith = object({
  promotions: z.boolean().describe('Other promotions'),
  coupons: z.boolean(),
})
