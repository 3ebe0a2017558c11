/** Erasure of notifications that mention a data subject, read or not. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'

/** Not `concat_ws`: it is not immutable, so a cluster rejects it. */
const allText = sql<string>`coalesce(title, '') || ' ' || coalesce(message, '') || ' ' || coalesce(data::text, '')`

/** In the caller's transaction. `mentionsSubject`: builds the condition for a text. */
export async function eraseNotifications(
  ctx: Context,
  mentionsSubject: (text: RawBuilder<string>) => RawBuilder<boolean>,
): Promise<void> {
  await ctx.db.deleteFrom('notifications').where(mentionsSubject(allText)).execute()
}
