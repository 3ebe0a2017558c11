import { operation, z } from '#runtime/operation'
import { id, object } from '#runtime/schema'
import { testimonial } from '../schema.ts'
import { updateTestimonial } from '../testimonials.ts'

export default operation({
  method: 'PATCH',
  path: '/store-testimonials',
  description: 'Show a testimonial on the storefront, or stop showing it.',
  words: 'show or hide a quote',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'testimonials',
  input: { body: object({ id, isEnabled: z.boolean() }) },
  answer: { status: 200, body: testimonial },
  refuses: { not_found: 'No such testimonial' },
  example: { body: { id: '01934567-89ab-7cde-8f01-23456789abcd', isEnabled: false } },
  handler: (ctx, { body }) => updateTestimonial(ctx, body.id, { isEnabled: body.isEnabled }),
})
