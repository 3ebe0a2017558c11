import { job } from '#runtime/job'
import { inboxMediaFetch } from '../../handles.ts'
import { fetchMedia, giveUpMedia } from '../media.ts'

export default job(inboxMediaFetch, {
  description: 'Copies a file that a contact sent into our storage.',
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 60,
  isBulk: true,
  oneAtATimePer: ({ messageId }) => messageId,
  safeTwice: "The file's name is the message's id: it is written anew.",
  run: (ctx, { messageId }, { signal }) => fetchMedia(ctx, messageId, signal),
  failed: (ctx, { messageId }) => giveUpMedia(ctx, messageId),
})
