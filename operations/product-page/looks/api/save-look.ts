import { operation } from '#runtime/operation'
import { changeLook, createLook, readLook } from '../looks.ts'
import { look, lookBody } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/shop-the-look/looks',
  description: 'Create a look: a picture with the products on it. With an `id`, change that look instead.',
  details:
    'A new one needs `name`, `imageUrl` and `items`; in a change, what is left out keeps its value and `items` are replaced whole. New items must exist on your platform.',
  words: 'photo with several products to buy together, outfit',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'shop-the-look',
  input: { body: lookBody },
  answer: { status: 200, body: look },
  refuses: {
    not_found: 'The id is of no look of this store',
    conflict: 'There are 200 looks, no platform is connected, or others change the same look',
    unavailable: 'The platform does not answer; nothing was written',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { body }) => (body.id === undefined ? null : readLook(ctx, body.id)) },
  example: {
    body: {
      name: 'Sala de verão',
      imageUrl: 'https://cdn.example.com/looks/sala.jpg',
      items: [
        { productId: '1012', hotspot: { x: 32, y: 60 } },
        { productId: '1013', quantity: 2, hotspot: { x: 71.5, y: 44 } },
      ],
    },
  },
  async handler(ctx, { body: { id, ...input } }) {
    if (id === undefined) return readLook(ctx, await createLook(ctx, input))
    await changeLook(ctx, id, input)
    return readLook(ctx, id)
  },
})
