import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { readTimeline } from '../timeline.ts'

export default page({
  method: 'GET',
  path: '/sandbox/api/timeline',
  description: 'Recent events of a store: jobs, messages, mail and hooks, newest first.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const store = request.parameters().get('store')
    if (!store) throw refuse('bad_request', 'store: name one by its id or slug')
    return jsonAnswer(await readTimeline(ctx, store))
  },
})
