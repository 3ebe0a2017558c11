/** Somebody who wants to be forgotten: on no list any more, and no campaign goes to them. Counters stay. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import { type Forgets, type Forgotten, isTheirs, namesThem } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { toldAs } from '../imports/entries.ts'
import { dropContacts } from '../lists/contacts.ts'
import { after, campaignMessages } from '../sending/lane.ts'

/** Of their messages. */
const theirColumns = { phoneKey: 'phone_key', email: 'email' }

export const forgetsContacts: Forgets = {
  async stop(ctx, person) {
    const messages = await ctx.db
      .selectFrom('campaign_messages')
      .select('id')
      .where(isTheirs(person, theirColumns))
      .execute()
    await outbox.endForgotten(
      ctx,
      campaignMessages,
      messages.map(({ id }) => id),
      (row) => after(ctx, row, { is: 'skipped', reason: 'opted-out' }),
    )
  },
  async forget(ctx, person) {
    const columns = { phoneKey: 'phone_key', email: 'email', customer: 'platform_customer_id' }
    await dropContacts(ctx, isTheirs(person, columns))
    // Who is not there any more need not be kept out.
    await ctx.db
      .deleteFrom('list_exclusions')
      .where(isTheirs(person, { phoneKey: 'phone_key' }))
      .execute()
    await ctx.db.deleteFrom('campaign_messages').where(isTheirs(person, theirColumns)).execute()
    await ctx.db
      .updateTable('list_import_rows')
      .set({
        cells: sql<string>`(select coalesce(jsonb_agg(''::text), '[]') from jsonb_array_elements(cells))`,
      })
      .where(namesThem(person, sql<string>`cells::text`))
      .execute()
    await forgetFaults(ctx, person)
  },
}

/** The rows that an import could not take are told by the customer's id. */
async function forgetFaults(ctx: Context, { customerId }: Forgotten): Promise<void> {
  if (customerId === null) return
  const named = toldAs(customerId)
  await ctx.db
    .updateTable('list_imports')
    .set({
      errors: sql<string>`replace(errors::text, ${named}, ${toldAs('…')})::jsonb`,
      updated_at: ctx.now(),
    })
    .where(sql<boolean>`position(${named} in errors::text) > 0`)
    .execute()
}

/** Who came to a list from a shop that left. */
export const forgetShop = (ctx: Context): Promise<void> =>
  dropContacts(ctx, sql<boolean>`(platform_customer_id is not null or source = 'ecomplatform')`)
