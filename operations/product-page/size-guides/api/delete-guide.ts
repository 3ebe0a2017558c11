import { operation } from '#runtime/operation'
import { sizeGuide } from '../schema.ts'
import { deleteGuide, readGuide } from '../size-guides.ts'

export default operation({
  method: 'DELETE',
  path: '/size-guides/:id',
  description: 'Delete a size guide; shoppers see the next one that is for the product, if any.',
  words: 'throw a size chart away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'size-guides',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such size guide' },
  ifMatch: { of: sizeGuide, read: (ctx, { params }) => readGuide(ctx, params.id) },
  handler: (ctx, { params }) => deleteGuide(ctx, params.id),
})
