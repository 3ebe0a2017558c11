/** Erases a person: removes them from every list and every campaign. The counters of campaigns stay. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import {
  belongsToSubject,
  type DataSubject,
  type ErasureHandler,
  mentionsSubject,
} from '#operations/store/index'
import type { Context } from '#runtime/context'
import { formatCustomer } from '../imports/entries.ts'
import { dropContacts } from '../lists/contacts.ts'
import { applyOutcome, campaignMessages } from '../sending/outbox-source.ts'

/** Columns of `campaign_messages` that identify a person. */
const theirColumns = { phoneKey: 'phone_key', email: 'email' }

export const contactErasure: ErasureHandler = {
  async stop(ctx, person) {
    const messages = await ctx.db
      .selectFrom('campaign_messages')
      .select('id')
      .where(belongsToSubject(person, theirColumns))
      .execute()
    await outbox.endForErasure(
      ctx,
      campaignMessages,
      messages.map(({ id }) => id),
      (row) => applyOutcome(ctx, row, { kind: 'skipped', reason: 'opted-out' }),
    )
  },
  async erase(ctx, person) {
    const columns = { phoneKey: 'phone_key', email: 'email', customer: 'platform_customer_id' }
    await dropContacts(ctx, belongsToSubject(person, columns))
    // An exclusion only prevents that an import adds a removed contact again. It must not keep an erased phone.
    await ctx.db
      .deleteFrom('list_exclusions')
      .where(belongsToSubject(person, { phoneKey: 'phone_key' }))
      .execute()
    await ctx.db.deleteFrom('campaign_messages').where(belongsToSubject(person, theirColumns)).execute()
    await ctx.db
      .updateTable('list_import_rows')
      .set({
        cells: sql<string>`(select coalesce(jsonb_agg(''::text), '[]') from jsonb_array_elements(cells))`,
      })
      .where(mentionsSubject(person, sql<string>`cells::text`))
      .execute()
    await eraseImportErrors(ctx, person)
  },
}

/** Removes the customer's id from the errors of imports, which contain it. */
async function eraseImportErrors(ctx: Context, { customerId }: DataSubject): Promise<void> {
  if (customerId === null) return
  const named = formatCustomer(customerId)
  await ctx.db
    .updateTable('list_imports')
    .set({
      errors: sql<string>`replace(errors::text, ${named}, ${formatCustomer('…')})::jsonb`,
      updated_at: ctx.now(),
    })
    .where(sql<boolean>`position(${named} in errors::text) > 0`)
    .execute()
}

/** Removes the contacts that were imported from a shop, after it was disconnected. */
export const eraseShop = (ctx: Context): Promise<void> =>
  dropContacts(ctx, sql<boolean>`(platform_customer_id is not null or source = 'ecomplatform')`)
