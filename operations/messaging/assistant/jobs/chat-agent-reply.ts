import { serverJob } from '#runtime/job'
import { chatAgentReply } from '../../handles.ts'
import { replyTo } from '../reply.ts'

export default serverJob(chatAgentReply, {
  description: "Answers messages to the assistant's number",
  retry: { limit: 6, backoffSeconds: 5 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ inboundId }) => inboundId,
  safeTwice: 'An inbound message is handled once, in one transaction; its reply is sent under its own key.',
  run: (system, message) => replyTo(system, message),
})
