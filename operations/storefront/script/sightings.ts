/**
 * Records that a storefront requested the loader. Does not delay the response; writes at most hourly per store and process.
 */

import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { isBot } from '../visits/bots.ts'
import { recordEmbedSeen, recordSeen } from './publication.ts'

const intervalMs = hourMs
const storesAtMost = 10_000
// biome-ignore lint/plugin/module-state: a bound on writes of this process: without it the same would be written more often
const written = new Map<string, number>()

/** Records a request in the background. `isEmbedded` is true if the merchant's embed block sent the request. */
export function recordSighting(ctx: Context, userAgent: string | null, isEmbedded: boolean): void {
  if (isBot(userAgent)) return
  const key = `${ctx.store.id} ${isEmbedded}`
  const now = ctx.clock.ms()
  const last = written.get(key)
  if (last !== undefined && now >= last && now - last < intervalMs) return
  if (written.size >= storesAtMost) written.delete(written.keys().next().value!)
  written.set(key, now)
  const write = isEmbedded ? ctx.transaction(recordEmbedSeen) : recordSeen(ctx)
  write.catch((error: unknown) => {
    written.delete(key)
    ctx.log.warn({ err: error }, 'storefront sighting not recorded')
  })
}
