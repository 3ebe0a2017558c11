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
    /** True if the merchant's embed block loads the script. The job then removes our script tag instead of adding it. */
    isEmbedded: z.boolean().optional(),
  }),
)
