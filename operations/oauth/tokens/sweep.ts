/** What is over goes: codes, grants, clients that nobody uses, and keys of assistants that ended long ago. */

import { childKeys } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'

/** A code that was spent is known for as long as somebody might bring it again. */
const codesForMs = dayMs
/** A registration that led to nothing, and one that was used. */
const unusedForMs = 7 * dayMs
const usedForMs = 400 * dayMs
/** For whoever looks at the list of keys afterwards. */
const endedKeysForMs = 90 * dayMs

export async function sweep(ctx: SystemContext): Promise<void> {
  const before = (age: number): Date => new Date(ctx.clock.ms() - age)
  await ctx.root.deleteFrom('oauth_codes').where('expires_at', '<', before(codesForMs)).execute()
  await ctx.root.deleteFrom('oauth_grants').where('expires_at', '<', before(0)).execute()
  await ctx.root
    .deleteFrom('oauth_clients')
    .where((eb) =>
      eb.or([
        eb.and([eb('used_at', 'is', null), eb('created_at', '<', before(unusedForMs))]),
        eb('used_at', '<', before(usedForMs)),
      ]),
    )
    .execute()
  await childKeys.forgetChildren(ctx, before(endedKeysForMs))
}
