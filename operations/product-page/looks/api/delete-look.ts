import { operation } from '#runtime/operation'
import { deleteLook, readLook } from '../looks.ts'
import { look } from '../schema.ts'

export default operation({
  method: 'DELETE',
  path: '/shop-the-look/looks/:id',
  description: 'Delete a look; it leaves the sections of the home page as well.',
  details: 'A section that is left without looks is removed.',
  words: 'throw an outfit away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'shop-the-look',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such look' },
  ifMatch: { of: look, read: (ctx, { params }) => readLook(ctx, params.id) },
  handler: (ctx, { params }) => deleteLook(ctx, params.id),
})
