import { jsonAnswer, page } from '#runtime/page'
import { readWorld } from '../world.ts'

export default page({
  method: 'GET',
  path: '/sandbox/api/world',
  description: 'Data of the sandbox page: the newest messages, mail, codes, orders and checkouts of a store.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: async (ctx, request) => jsonAnswer(await readWorld(ctx, request.parameters().get('store'))),
})
