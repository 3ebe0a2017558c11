import { job } from '#runtime/job'
import { campaignMessageSend } from '../../handles.ts'
import { giveUp, sendMessage } from '../retry.ts'

export default job(campaignMessageSend, {
  description: 'Sends one message of a campaign again',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ messageId }) => messageId,
  safeTwice: 'The message is claimed in the database before it is sent, and is sent under its own key.',
  run: (ctx, work, { signal }) => sendMessage(ctx, work, signal),
  async failed(ctx, { campaignId, messageId }) {
    await giveUp(ctx, campaignId, messageId, 'The message could not be sent: try again later')
  },
})
