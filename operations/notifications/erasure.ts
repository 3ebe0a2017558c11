/** Erasure of notifications that mention a data subject, whether or not they have been read. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'

/** Does not use `concat_ws`, which is not immutable and therefore rejected on a cluster. */
const allText = sql<string>`coalesce(title, '') || ' ' || coalesce(message, '') || ' ' || coalesce(data::text, '')`

/** Runs in the caller's transaction. `mentionsSubject` builds the SQL condition for a text. */
export async function eraseNotifications(
  ctx: Context,
  mentionsSubject: (text: RawBuilder<string>) => RawBuilder<boolean>,
): Promise<void> {
  await ctx.db.deleteFrom('notifications').where(mentionsSubject(allText)).execute()
}
