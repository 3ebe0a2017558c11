/** Notices that name somebody who wants to be forgotten: they go, read or not. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'

/** In the caller's transaction. `namesThem`: of a text. */
export async function forgetNotices(
  ctx: Context,
  namesThem: (text: RawBuilder<string>) => RawBuilder<boolean>,
): Promise<void> {
  await ctx.db
    .deleteFrom('notifications')
    .where(namesThem(sql<string>`concat_ws(' ', title, message, data::text)`))
    .execute()
}
