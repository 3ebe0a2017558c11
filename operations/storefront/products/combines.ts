/** Schema of the setting with which other discounts a discount can be combined. */
import { object, z } from '#runtime/schema'

export const combinesWith = object({
  promotions: z.boolean().describe('Other promotions'),
  coupons: z.boolean(),
})
