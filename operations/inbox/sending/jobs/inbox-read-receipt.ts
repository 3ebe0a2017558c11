import { job } from '#runtime/job'
import { inboxReadReceipt } from '../../handles.ts'
import { sendReadReceipt } from '../receipts.ts'

export default job(inboxReadReceipt, {
  description: 'Tells the provider that the messages of a conversation were read.',
  retry: { limit: 2, backoffSeconds: 10 },
  timeoutSeconds: 20,
  oneAtATimePer: ({ conversationId }) => conversationId,
  safeTwice: 'Marking a conversation as read twice changes nothing.',
  run: (ctx, { conversationId }) => sendReadReceipt(ctx, conversationId),
  // The merchant is not notified, because a missing read receipt does no harm.
  async failed(ctx, { conversationId }, reason) {
    ctx.log.info({ conversationId, reason }, 'read receipt failed')
  },
})
