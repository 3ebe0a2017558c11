/** Erasure of a person: deletes the single sends to them and the data about their phone. */
import { sql } from 'kysely'
import { belongsToSubject, type DataSubject, type ErasureHandler } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { endForErasure } from '../outbox/transitions.ts'
import { singleSends } from '../sends/outbox-source.ts'

const byPhone = { phoneKey: 'phone_key' }

/** Opt-outs are not erased: without them the person would be messaged again. */
export const erasePerson: ErasureHandler = {
  async stop(ctx, person) {
    const queued = await ctx.db
      .selectFrom('direct_messages')
      .select('id')
      .where(belongsToSubject(person, byPhone))
      .where('status', '=', 'queued')
      .orderBy('id')
      .execute()
    await endForErasure(
      ctx,
      singleSends,
      queued.map(({ id }) => id),
    )
  },
  async erase(ctx, person) {
    await ctx.db.deleteFrom('direct_messages').where(belongsToSubject(person, byPhone)).execute()
    await ctx.db.deleteFrom('contact_windows').where(belongsToSubject(person, byPhone)).execute()
    await ctx.db
      .deleteFrom('number_users')
      .where(belongsToSubject(person, { phone: 'phone' }))
      .execute()
    await ctx.db
      .updateTable('opt_outs')
      .set({ note: null, updated_at: ctx.now() })
      .where(belongsToSubject(person, byPhone))
      .where('note', 'is not', null)
      .execute()
    await anonymizeRecipients(ctx, person)
  },
}

/** Anonymizes recipients instead of deleting them, because they count against the number's limit for a day. */
async function anonymizeRecipients(ctx: Context, { phoneKeys }: DataSubject): Promise<void> {
  await ctx.db
    .updateTable('number_recipients')
    .set({ recipient: sql<string>`number_id || ' ' || md5(recipient)` })
    .where(sql<boolean>`recipient = any(array(
      select number_recipients.number_id || ' ' || key from unnest(${[...phoneKeys]}::text[]) as k(key)))`)
    .execute()
}
