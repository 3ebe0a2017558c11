import { serverJob } from '#runtime/job'
import { chatAgentReply } from '../../handles.ts'
import { replyTo } from '../reply.ts'

export default serverJob(chatAgentReply, {
  description: "Answers messages to the assistant's number",
  retry: { limit: 6, backoffSeconds: 5 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ inboundId }) => inboundId,
  safeTwice:
    'An inbound message is decided on once, in one transaction; its reply leaves under a key of its own.',
  run: (system, message) => replyTo(system, message),
})
