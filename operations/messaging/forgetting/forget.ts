/** Somebody who wants to be forgotten: no single send to them is kept, nor what is known of their phone. */
import { sql } from 'kysely'
import { type Forgets, type Forgotten, isTheirs } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { endForgotten } from '../outbox/moves.ts'
import { singleSends } from '../sends/lane.ts'

const byPhone = { phoneKey: 'phone_key' }

/** Who opted out stays on the store's list: else they would be written to again. */
export const forgetsPhone: Forgets = {
  async stop(ctx, person) {
    const queued = await ctx.db
      .selectFrom('direct_messages')
      .select('id')
      .where(isTheirs(person, byPhone))
      .where('status', '=', 'queued')
      .orderBy('id')
      .execute()
    await endForgotten(
      ctx,
      singleSends,
      queued.map(({ id }) => id),
    )
  },
  async forget(ctx, person) {
    await ctx.db.deleteFrom('direct_messages').where(isTheirs(person, byPhone)).execute()
    await ctx.db.deleteFrom('contact_windows').where(isTheirs(person, byPhone)).execute()
    await ctx.db
      .deleteFrom('number_users')
      .where(isTheirs(person, { phone: 'phone' }))
      .execute()
    await ctx.db
      .updateTable('opt_outs')
      .set({ note: null, updated_at: ctx.now() })
      .where(isTheirs(person, byPhone))
      .where('note', 'is not', null)
      .execute()
    await hideRecipients(ctx, person)
  },
}

/** They count against the number's limit for a day: as somebody. */
async function hideRecipients(ctx: Context, { phoneKeys }: Forgotten): Promise<void> {
  await ctx.db
    .updateTable('number_recipients')
    .set({ recipient: sql<string>`number_id || ' ' || md5(recipient)` })
    .where(sql<boolean>`recipient = any(array(
      select number_recipients.number_id || ' ' || key from unnest(${[...phoneKeys]}::text[]) as k(key)))`)
    .execute()
}
