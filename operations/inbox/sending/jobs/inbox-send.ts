import { job } from '#runtime/job'
import { inboxSend } from '../../handles.ts'
import { sendQueued } from '../run.ts'

export default job(inboxSend, {
  description: "Sends a conversation's messages, oldest first",
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 240,
  oneAtATimePer: ({ conversationId }) => conversationId,
  safeTwice: 'A message is claimed in the database before it is sent, and is sent under its own key.',
  run: (ctx, { conversationId }, { signal }) => sendQueued(ctx, conversationId, signal),
  // The merchant is not notified, because the watchdog queues the job again.
  async failed(ctx, { conversationId }, reason) {
    ctx.log.error({ conversationId, reason }, 'conversation send failed after all retries')
  },
})
