/** Which other discounts a discount combines with. */
import { object, z } from '#runtime/schema'

export const combinesWith = object({
  promotions: z.boolean().describe('Other promotions'),
  coupons: z.boolean(),
})
