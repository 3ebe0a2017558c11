import { operation, z } from '#runtime/operation'
import { object, queryFlag } from '#runtime/schema'
import { testimonial, testimonialSettings } from '../schema.ts'
import { listTestimonials } from '../testimonials.ts'

export default operation({
  method: 'GET',
  path: '/store-testimonials',
  description: 'List the testimonials in their order, with the settings of their widget.',
  words: 'quotes of happy customers',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'testimonials',
  input: {
    query: object({
      isEnabled: queryFlag.optional().describe('true: only shown testimonials; false: only hidden ones'),
    }),
  },
  answer: { status: 200, body: object({ data: z.array(testimonial), settings: testimonialSettings }) },
  handler: (ctx, { query }) => listTestimonials(ctx, query.isEnabled),
})
