import { operation } from '#runtime/operation'
import { changedSizeGuide, sizeGuide } from '../schema.ts'
import { changeGuide, readGuide } from '../size-guides.ts'

export default operation({
  method: 'PUT',
  path: '/size-guides',
  description: 'Change a size guide; what is left out keeps its value, and tables are replaced whole.',
  words: 'correct the measurements of a size chart',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'size-guides',
  input: { body: changedSizeGuide },
  answer: { status: 200, body: sizeGuide },
  refuses: {
    not_found: 'There is no such size guide',
    conflict: 'A new product or category is named, and no platform is connected; or others change the same',
    unavailable: 'A new product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { body }) => readGuide(ctx, body.id) },
  example: { body: { id: '01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8d', display: 'drawer' } },
  async handler(ctx, { body: { id, ...change } }) {
    await changeGuide(ctx, id, change)
    return readGuide(ctx, id)
  },
})
