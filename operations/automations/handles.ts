/** Job handles of automations: each queue's name and its payload. */
import { handle } from '#runtime/jobs/handle'
import { id, instant, object, z } from '#runtime/schema'

const ids = z.array(z.string()).max(200)

export const cartsSync = handle('carts-sync', object({}))

export const automationAdvance = handle(
  'automation-advance',
  object({ key: z.string(), at: instant, executionId: id.nullable() }),
)

export const automationEvent = handle('automation-event', object({ carts: ids, orders: ids }))

export const automationExecute = handle('automation-execute', object({ automationId: id, jobId: id }))

export const automationCouponRevoke = handle('automation-coupon-revoke', object({ code: z.string() }))

export const automationScan = handle('automation-scan', object({ automationId: id }))
