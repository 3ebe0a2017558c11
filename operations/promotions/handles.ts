/** The jobs of promotions that are queued, by whoever does: a queue's name, and what it is told. */
import { handle } from '#runtime/jobs/handle'
import { id, object } from '#runtime/schema'

export const discountReconcile = handle('discount-reconcile', object({ discountId: id, token: id }))

export const discountsSync = handle('discounts-sync', object({}))
