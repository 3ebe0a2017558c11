/** Job handles of reviews: queue name and payload schema. */
import { exports } from '#operations/store/index'
import { handle } from '#runtime/jobs/handle'
import { id, object, z } from '#runtime/schema'

export const reviewImport = handle('review-import', object({ importId: id }))

export const reviewDispatchPlan = handle(
  'review-dispatch-plan',
  object({
    /** The orders to plan for; if omitted, all orders that changed since the last scan. */
    orderIds: z.array(z.string()).max(500).optional(),
  }),
)

export const reviewDispatchSend = handle('review-dispatch-send', object({}))

export const reviewExport = exports.handle('review-export')

export const reviewImageCopy = handle(
  'review-image-copy',
  object({ reviewId: id, urls: z.array(z.string().max(2000)).min(1).max(10) }),
)

export const reviewConfirmEmail = handle('review-confirm-email', object({ reviewId: id }))
