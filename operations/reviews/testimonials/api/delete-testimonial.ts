import { operation } from '#runtime/operation'
import { deleteTestimonial } from '../testimonials.ts'

export default operation({
  method: 'DELETE',
  path: '/store-testimonials/:id',
  description: 'Delete a testimonial; those after it move up one.',
  words: 'throw a quote away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'testimonials',
  answer: { status: 204 },
  refuses: { not_found: 'No such testimonial' },
  handler: (ctx, { params }) => deleteTestimonial(ctx, params.id),
})
