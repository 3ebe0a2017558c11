/** Queue handles of the storefront: each job's queue name and payload. */
import { handle } from '#runtime/jobs/handle'
import { object, z } from '#runtime/schema'

export const productSnapshotsRefresh = handle(
  'product-snapshots-refresh',
  object({ productIds: z.array(z.string().max(200)).min(1).max(50).optional() }),
)

export const storefrontScriptPublish = handle(
  'storefront-script-publish',
  object({
    /** The merchant's embed block is active: removes the script tag that does the same. */
    isEmbedded: z.boolean().optional(),
  }),
)
