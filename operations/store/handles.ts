/** Handles of the store's jobs, with queue name and payload schema, for code that queues them. */
import { handle } from '#runtime/jobs/handle'
import { id, object, z } from '#runtime/schema'

export const orderAttribute = handle(
  'order-attribute',
  object({ orderIds: z.array(z.string()).min(1).max(500) }),
)

export const ordersSync = handle(
  'orders-sync',
  object({
    /** Also registers webhooks that are missing at the platform. */
    checkWebhooks: z.boolean().optional(),
  }),
)

export const connectionProbe = handle(
  'connection-probe',
  object({ port: z.enum(['ecommerce', 'messaging', 'mailingList']), part: z.string() }),
)

export const providerProbe = handle(
  'provider-probe',
  object({ port: z.enum(['billing', 'mail', 'storage']), provider: z.string() }),
)

export const providerEventApply = handle('provider-event-apply', object({}))

export const conversionDaysRebuild = handle('conversion-days-rebuild', object({}))

export const invitationEmail = handle('invitation-email', object({ invitationId: id }))
