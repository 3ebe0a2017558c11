import { operation } from '#runtime/operation'
import { changedTestimonial, testimonial } from '../schema.ts'
import { updateTestimonial } from '../testimonials.ts'

export default operation({
  method: 'PUT',
  path: '/store-testimonials',
  description: 'Change a testimonial; its place in the list stays. Fields left out keep their value.',
  words: 'rewrite a quote',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'testimonials',
  input: { body: changedTestimonial },
  answer: { status: 200, body: testimonial },
  refuses: { not_found: 'No such testimonial' },
  example: { body: { id: '01934567-89ab-7cde-8f01-23456789abcd', authorTitle: 'Olinda' } },
  handler(ctx, { body: { id, ...change } }) {
    return updateTestimonial(ctx, id, change)
  },
})
