import { serverJob } from '#runtime/job'
import { instant, object, z } from '#runtime/schema'
import { replyTo } from '../reply.ts'

export default serverJob({
  description: "Answers what somebody wrote to the assistant's number",
  payload: object({ inboundId: z.string(), phone: z.string(), text: z.string(), at: instant }),
  retry: { limit: 6, backoffSeconds: 5 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ inboundId }) => inboundId,
  safeTwice:
    'An inbound message is decided on once, in one transaction; its reply leaves under a key of its own.',
  run: (system, message) => replyTo(system, message),
})
