/** How far the mirrors of orders and carts have read (rule 16). */
import { connections } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { Mirrors } from '../deciding/mirrors.ts'

/** As the connection keeps it; null without one. */
export async function readMirrors(ctx: Context): Promise<Mirrors | null> {
  const known = await connections.readAllProgress(ctx)
  if (known === null) return null
  const at = (mirror: unknown): Date | null => (typeof mirror === 'string' ? new Date(mirror) : null)
  return { orders: at(known.ordersSyncedAt), carts: at(known.cartsSyncedAt) }
}
