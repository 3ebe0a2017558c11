import { job } from '#runtime/job'
import { inboxMediaFetch } from '../../handles.ts'
import { failMedia, fetchMedia } from '../media.ts'

export default job(inboxMediaFetch, {
  description: 'Copies a file that a contact sent into our storage.',
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 60,
  isBulk: true,
  oneAtATimePer: ({ messageId }) => messageId,
  safeTwice: "The file name is the message's id: a second run overwrites the same file.",
  run: (ctx, { messageId }, { signal }) => fetchMedia(ctx, messageId, signal),
  failed: (ctx, { messageId }) => failMedia(ctx, messageId),
})
