/** The job queues of messaging and their payloads. */
import { handle } from '#runtime/jobs/handle'
import { id, instant, object, z } from '#runtime/schema'

export const chatAgentReply = handle(
  'chat-agent-reply',
  object({ inboundId: z.string(), phone: z.string(), text: z.string(), at: instant }),
)

export const messagingCleanup = handle('messaging-cleanup', object({}))

export const officialRevalidate = handle('official-revalidate', object({}))

export const qrLinkLost = handle('qr-link-lost', object({ lostAt: instant }))

export const qrSessionExpire = handle('qr-session-expire', object({ startedAt: instant }))

export const messageSettle = handle(
  'message-settle',
  object({ storeId: id.optional(), messageId: id.optional() }),
)

export const templateSync = handle('template-sync', object({}))
