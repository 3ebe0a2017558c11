/** Reads when the caches of orders and carts last completed a sync (rule 16). */
import { connections } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { CacheProgress } from '../deciding/cache-freshness.ts'

/** Reads the progress stored with the platform connection; null if the store has no connection. */
export async function readCacheProgress(ctx: Context): Promise<CacheProgress | null> {
  const known = await connections.readAllProgress(ctx)
  if (known === null) return null
  const at = (mirror: unknown): Date | null => (typeof mirror === 'string' ? new Date(mirror) : null)
  return { orders: at(known.ordersSyncedAt), carts: at(known.cartsSyncedAt) }
}
