import { type Job, job } from '#runtime/job'
import { id, object, z } from '#runtime/schema'
import { giveUp, sendMessage } from '../retry.ts'

const payload = object({
  campaignId: id,
  messageId: id,
  hasPlace: z.boolean().default(false),
  troubleSince: z.number().nullable().default(null),
})

const campaignMessageSend: Job<typeof payload> = job({
  description: 'Sends one message of a campaign again',
  payload,
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ messageId }) => messageId,
  safeTwice: 'The message is claimed in the database before it leaves, and leaves under a key of its own.',
  run: (ctx, work, { signal }) =>
    sendMessage(ctx, work, signal, (again, at) => ctx.queue(campaignMessageSend, again, { at })),
  async failed(ctx, { campaignId, messageId }) {
    await giveUp(ctx, campaignId, messageId, 'The message could not be sent: try again later')
  },
})
export default campaignMessageSend
