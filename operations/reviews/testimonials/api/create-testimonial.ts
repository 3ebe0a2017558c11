import { operation } from '#runtime/operation'
import { newTestimonial, testimonial } from '../schema.ts'
import { createTestimonial } from '../testimonials.ts'

export default operation({
  method: 'POST',
  path: '/store-testimonials',
  description: 'Add a testimonial, at the end of the list.',
  words: 'add a quote of a happy customer',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'testimonials',
  input: { body: newTestimonial },
  answer: { status: 201, body: testimonial },
  refuses: { conflict: 'The store has 100 already' },
  example: {
    body: { authorName: 'Ana Souza', authorTitle: 'Recife', text: 'Chegou antes do prazo.', rating: 5 },
  },
  handler: (ctx, { body }) => createTestimonial(ctx, body),
})
