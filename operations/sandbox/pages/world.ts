import { jsonAnswer, page } from '#runtime/page'
import { worldOf } from '../world.ts'

export default page({
  method: 'GET',
  path: '/sandbox/api/world',
  description: 'What the page shows of a store: the newest messages, mail, codes, orders and checkouts.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: async (ctx, request) => jsonAnswer(await worldOf(ctx, request.parameters().get('store'))),
})
