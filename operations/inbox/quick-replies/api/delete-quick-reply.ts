import { operation } from '#runtime/operation'
import { deleteQuickReply } from '../quick-replies.ts'

export default operation({
  method: 'DELETE',
  path: '/inbox/quick-replies/:id',
  description: 'Delete a quick reply. Messages sent with it stay.',
  words: 'throw a saved answer away',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such quick reply' },
  handler: (ctx, { params }) => deleteQuickReply(ctx, params.id),
})
