import { distinctList } from '#runtime/distinct-list'
import { operation, z } from '#runtime/operation'
import { id, object, wholeListOf } from '#runtime/schema'
import { testimonial } from '../schema.ts'
import { reorderTestimonials } from '../testimonials.ts'

export default operation({
  method: 'PATCH',
  path: '/store-testimonials/reorder',
  description: 'Put the testimonials in a new order, all of them at once.',
  details: 'Names every testimonial of the store, each once; otherwise nothing moves.',
  words: 'order of the quotes',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'testimonials',
  input: { body: object({ ids: distinctList(z.array(id).min(1).max(100), 'must not name an id twice') }) },
  answer: { status: 200, body: wholeListOf(testimonial) },
  refuses: {
    not_found: 'One of them is no testimonial of this store',
    conflict: 'One was left out, such as one added meanwhile',
  },
  example: {
    body: { ids: ['01934567-89ab-7cde-8f01-23456789abcd', '01934567-89ab-7cde-8f01-23456789abce'] },
  },
  async handler(ctx, { body }) {
    return { data: await reorderTestimonials(ctx, body.ids) }
  },
})
