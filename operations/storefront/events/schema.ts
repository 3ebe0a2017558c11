/** The body of an events request, shared by all widgets. */
import { object, themeId, z } from '#runtime/schema'
import { eventTypes } from './specs.ts'

const platformId = themeId()

const event = object({
  id: z.string().uuid(),
  type: z.enum(eventTypes),
  /** Name of a widget; `refuseUnknown` checks that it is registered. */
  widget: z.string().max(64),
  resourceId: platformId.optional(),
  productId: platformId.optional(),
  variantId: platformId.optional(),
  /** An invalid email or phone is dropped, not refused: the visitor has left the form and cannot correct it any more. */
  contact: object({
    email: z.string().max(500).nullish(),
    phone: z.string().max(500).nullish(),
    name: z.string().max(500).nullish(),
    consent: z.boolean(),
  }).optional(),
})
export type GivenEvent = z.infer<typeof event>

export const eventsBody = object({
  visitorId: z.string().regex(/^[A-Za-z0-9_-]{16,64}$/, 'must have 16 to 64 letters, digits, _ or -'),
  device: z.enum(['mobile', 'desktop']).optional(),
  events: z.array(event).min(1).max(50),
})
export type EventsBody = z.infer<typeof eventsBody>
