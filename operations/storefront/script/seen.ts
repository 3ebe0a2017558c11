/** That storefronts ask for us: written down beside the answer, and once an hour for each store and process. */

import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { isBot } from '../visits/bots.ts'
import { embedSeen, seen } from './publication.ts'

const restMs = hourMs
const storesAtMost = 10_000
// biome-ignore lint/plugin/module-state: a bound on writes of this process: without it the same would be written more often
const written = new Map<string, number>()

/** `isEmbedded`: by the block that the merchant switched on. Nobody waits for it. */
export function noteSeen(ctx: Context, userAgent: string | null, isEmbedded: boolean): void {
  if (isBot(userAgent)) return
  const key = `${ctx.store.id} ${isEmbedded}`
  const now = ctx.clock.ms()
  const last = written.get(key)
  if (last !== undefined && now >= last && now - last < restMs) return
  if (written.size >= storesAtMost) written.delete(written.keys().next().value!)
  written.set(key, now)
  const write = isEmbedded ? ctx.transaction(embedSeen) : seen(ctx)
  write.catch((error: unknown) => {
    written.delete(key)
    ctx.log.warn({ err: error }, 'that the storefront was seen was not written down')
  })
}
