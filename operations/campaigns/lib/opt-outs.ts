/** Phones that no campaign may write to. Unique in a store by their match form. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { instantOf, jsonObject } from '#runtime/json'
import { preparedList } from '#runtime/list'
import { JsonText } from '#runtime/operation'
import { parsePhone, phoneKey } from '#runtime/phone'

export const optOutJson = jsonObject({
  id: 'o.id',
  phone: 'o.phone',
  note: 'o.note',
  source: 'o.source',
  campaignId: 'o.campaign_id',
  createdAt: instantOf('o.created_at'),
  updatedAt: instantOf('o.updated_at'),
})

export interface OptOutFilters {
  /** Digits within the phone. */
  search?: string | undefined
  source?: string | undefined
}

export const listOptOuts = preparedList<OptOutFilters>((db, values, has) => {
  let rows = db.selectFrom('opt_outs as o')
  if (has('source')) rows = rows.where('o.source', '=', values.source!)
  if (has('search')) rows = rows.where(sql<boolean>`strpos(o.phone, ${values.search}) > 0`)
  return { rows, item: optOutJson, order: [['o.id', 'desc']] }
})

/** Opts a phone out by hand, in one statement. Refuses what is no phone, and one that is opted out already. */
export async function addOptOut(
  ctx: Context,
  input: { phone: string; note?: string | null },
): Promise<JsonText> {
  const phone = parsePhone(input.phone, ctx.store.country)
  if (!phone) throw refuse('bad_request', 'phone: is not a phone number')
  const now = ctx.now()
  const added = await ctx.db
    .with('o', (db) =>
      db
        .insertInto('opt_outs')
        .values({
          id: ctx.newId(),
          phone,
          phone_key: phoneKey(phone),
          note: input.note ?? null,
          source: 'manual',
          created_at: now,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.columns(['store_id', 'phone_key']).doNothing())
        .returningAll(),
    )
    .selectFrom('o')
    .select(sql<string>`${optOutJson}::text`.as('text'))
    .executeTakeFirst()
  if (!added) throw refuse('conflict', `phone: ${phone} is opted out already`)
  return new JsonText(added.text)
}
