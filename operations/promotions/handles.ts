/** Queue handles of promotions: each job's queue name and payload. */
import { handle } from '#runtime/jobs/handle'
import { id, object } from '#runtime/schema'

export const discountReconcile = handle('discount-reconcile', object({ discountId: id, token: id }))

export const discountsSync = handle('discounts-sync', object({}))
