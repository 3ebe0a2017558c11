/** Job handles of stock: each queue's name and its payload. */
import { exports } from '#operations/store/index'
import { handle } from '#runtime/jobs/handle'
import { id, object, text, z } from '#runtime/schema'

export const stockAlertSend = handle(
  'stock-alert-send',
  object({
    claimId: id,
    tries: z.number().int().min(0).default(0),
    places: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe('Rate slots of the number that are already reserved for it'),
  }),
)

export const stockAlertWave = handle(
  'stock-alert-wave',
  object({
    variantId: text(1, 64),
    isNext: z
      .boolean()
      .describe('True for the rollout an hour later, which is queued separately from the current one'),
  }),
)

export const stockReconcile = handle('stock-reconcile', object({}))

export const stockExport = exports.handle('stock-export')

export const stockListPush = handle('stock-list-push', object({ subscriptionId: id }))
