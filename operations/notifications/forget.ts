/** Notices that name somebody who wants to be forgotten: they go, read or not. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'

/** Not by `concat_ws`, of which a cluster says that it may answer otherwise the next time. */
const everyWord = sql<string>`coalesce(title, '') || ' ' || coalesce(message, '') || ' ' || coalesce(data::text, '')`

/** In the caller's transaction. `namesThem`: of a text. */
export async function forgetNotices(
  ctx: Context,
  namesThem: (text: RawBuilder<string>) => RawBuilder<boolean>,
): Promise<void> {
  await ctx.db.deleteFrom('notifications').where(namesThem(everyWord)).execute()
}
