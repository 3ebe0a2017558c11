import { operation } from '#runtime/operation'
import { id, queued } from '#runtime/schema'
import { campaignMessageSend } from '../../handles.ts'
import { retryMessage } from '../../sending/retry.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/:id/messages/:messageId/retry',
  description: 'Send one failed message of a campaign again.',
  words: 'try again to send to one recipient',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'campaigns',
  answer: { status: 202, body: queued({ messageId: id }) },
  monitor: '/campaigns/:id/messages',
  refuses: {
    not_found: 'There is no such campaign, or no such message in it',
    conflict:
      'The message did not fail or was tried 5 times, the campaign was cancelled, the phone is opted out, or nothing can carry it',
    forbidden: 'No message is left in the cycle',
  },
  async handler(ctx, { params }) {
    await retryMessage(ctx, params.id, params.messageId)
    const work = { campaignId: params.id, messageId: params.messageId, hasPlace: false, troubleSince: null }
    return { ...(await ctx.queue(campaignMessageSend, work)), messageId: params.messageId }
  },
})
