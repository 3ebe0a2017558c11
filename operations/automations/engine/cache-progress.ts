/** When the caches of orders and carts were last in full sync (rule 16). */
import { connections } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { CacheProgress } from '../deciding/cache-freshness.ts'

/** Reads the progress stored with the connection; null without one. */
export async function readCacheProgress(ctx: Context): Promise<CacheProgress | null> {
  const known = await connections.readAllProgress(ctx)
  if (known === null) return null
  const at = (mirror: unknown): Date | null => (typeof mirror === 'string' ? new Date(mirror) : null)
  return { orders: at(known.ordersSyncedAt), carts: at(known.cartsSyncedAt) }
}
