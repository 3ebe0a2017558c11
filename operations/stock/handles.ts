/** The jobs of stock that are queued, by whoever does: a queue's name, and what it is told. */
import { exports } from '#operations/store/door'
import { handle } from '#runtime/jobs/handle'
import { id, object, text, z } from '#runtime/schema'

export const stockAlertSend = handle(
  'stock-alert-send',
  object({
    claimId: id,
    tries: z.number().int().min(0).default(0),
    places: z.number().int().min(1).optional().describe('Places on the number that are taken for it already'),
  }),
)

export const stockAlertWave = handle(
  'stock-alert-wave',
  object({
    variantId: text(1, 64),
    isNext: z.boolean().describe('Of the wave an hour later, which waits beside the one that goes on now'),
  }),
)

export const stockReconcile = handle('stock-reconcile', object({}))

export const stockExport = exports.handle('stock-export')

export const stockListPush = handle('stock-list-push', object({ subscriptionId: id }))
