/** The jobs of storefront that are queued, by whoever does: a queue's name, and what it is told. */
import { handle } from '#runtime/jobs/handle'
import { object, z } from '#runtime/schema'

export const productSnapshotsRefresh = handle(
  'product-snapshots-refresh',
  object({ productIds: z.array(z.string().max(200)).min(1).max(50).optional() }),
)

export const storefrontScriptPublish = handle(
  'storefront-script-publish',
  object({
    /** What the merchant switched on does its work: what was put there for the same is taken away. */
    isEmbedded: z.boolean().optional(),
  }),
)
