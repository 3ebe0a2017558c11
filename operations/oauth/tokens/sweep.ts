/** Retention: deletes expired codes, grants, unused clients, and keys of assistants that ended long ago. */

import { childKeys } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'

/** Used codes are kept for this long after they expire, to detect replays. */
const codeRetentionMs = dayMs
/** Retention of registered clients: shorter for clients that were never used. */
const unusedClientRetentionMs = 7 * dayMs
const usedClientRetentionMs = 400 * dayMs
/** Ended keys stay visible in the list of keys for this long. */
const endedKeyRetentionMs = 90 * dayMs

export async function sweep(ctx: SystemContext): Promise<void> {
  const before = (age: number): Date => new Date(ctx.clock.ms() - age)
  await ctx.root.deleteFrom('oauth_codes').where('expires_at', '<', before(codeRetentionMs)).execute()
  await ctx.root.deleteFrom('oauth_grants').where('expires_at', '<', before(0)).execute()
  await ctx.root
    .deleteFrom('oauth_clients')
    .where((eb) =>
      eb.or([
        eb.and([eb('used_at', 'is', null), eb('created_at', '<', before(unusedClientRetentionMs))]),
        eb('used_at', '<', before(usedClientRetentionMs)),
      ]),
    )
    .execute()
  await childKeys.pruneChildKeys(ctx, before(endedKeyRetentionMs))
}
