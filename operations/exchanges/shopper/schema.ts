/** Request bodies of the storefront. */
import { files } from '#operations/store/index'
import { object, themeId, z } from '#runtime/schema'
import { refundMethod, requestType, returnMethod } from '../settings/schema.ts'

const trimmed = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    // PostgreSQL cannot store NUL characters in text.
    .regex(/^[^\0]*$/, 'must be plain text')
const platformId = themeId(100)
const sessionToken = z.string().min(1).max(500)
/** Honeypot: a hidden field that people leave empty. */
const website = z.string().max(200).optional()

export const lookupBody = object({
  orderNumber: themeId(60),
  contact: trimmed(1, 254).describe('Email or phone of the order'),
  website,
})
export type Lookup = z.infer<typeof lookupBody>

export const photoUploadBody = files.uploadInput.extend({ sessionToken })

export const maxItems = 50
export const requestBody = object({
  sessionToken,
  type: requestType,
  items: z
    .array(
      object({
        orderItemId: platformId,
        quantity: z.number().int().min(1).max(1_000_000),
        reason: z.string().min(1).max(30),
        comment: trimmed(0, 2000).optional(),
        exchangeForVariantId: platformId.optional(),
      }),
    )
    .min(1, 'must name at least one')
    .max(maxItems),
  photoUrls: z.array(z.string().min(1).max(2000)).max(10).optional(),
  comment: trimmed(0, 2000).optional(),
  returnMethod,
  refundMethod: refundMethod.optional(),
  acceptedConditions: z.literal(true, {
    errorMap: () => ({ message: 'must be true: the conditions must be accepted' }),
  }),
  website,
})
export type Submission = z.infer<typeof requestBody>
export type AskedItem = Submission['items'][number]

export const shippedBody = object({ trackingCode: trimmed(1, 80), carrier: trimmed(1, 60).optional() })
export type Shipped = z.infer<typeof shippedBody>
