/** Job handles of the inbox: queue name and payload schema. */
import { exports } from '#operations/store/index'
import { handle } from '#runtime/jobs/handle'
import { id, object, z } from '#runtime/schema'

export const inboxExport = exports.handle('inbox-export')

export const inboxMediaFetch = handle('inbox-media-fetch', object({ messageId: id }))

export const inboxReadReceipt = handle('inbox-read-receipt', object({ conversationId: id }))

export const inboxSend = handle('inbox-send', object({ conversationId: id }))

export const inboxReconcile = handle('inbox-reconcile', object({}))

export const inboxContactTier = handle(
  'inbox-contact-tier',
  object({ contactIds: z.array(z.string()).min(1).max(500) }),
)

export const inboxSegmentsRecalculate = handle('inbox-segments-recalculate', object({}))
