/** Phones that nothing but what they asked for may be written to. Unique in a store by their match form. */
import { type CommonTableExpressionOutput, type Kysely, type QueryCreator, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { pagesOf } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { phoneContaining, phoneLike } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { parsePhone, phoneKey } from '#runtime/values/phone'

const optOutJson = (row: string) =>
  jsonObject({
    id: `${row}.id`,
    phone: `${row}.phone`,
    note: `${row}.note`,
    source: `${row}.source`,
    campaignId: `${row}.campaign_id`,
    createdAt: instantOf(`${row}.created_at`),
    updatedAt: instantOf(`${row}.updated_at`),
  })

export interface OptOutFilters {
  /** Digits within the phone. */
  search?: string | undefined
  source?: string | undefined
}

interface Conditions {
  /** Patterns for `phoneLike`. */
  search?: string[]
  source?: string
}

/** Newest first. */
export const listed = {
  filters: (ctx: Context, { search, source }: OptOutFilters): Conditions => ({
    ...(search === undefined ? {} : { search: phoneContaining(search, ctx.store.country) ?? [] }),
    ...(source === undefined ? {} : { source }),
  }),
  rows(db: Kysely<TenantTables>, values: Required<Conditions>, has: (name: keyof Conditions) => boolean) {
    let rows = db.selectFrom('opt_outs as o')
    if (has('source')) rows = rows.where('o.source', '=', values.source)
    if (has('search')) rows = rows.where(phoneLike('o.phone', values.search))
    return rows
  },
  order: [['o.id', 'desc']],
} as const

/** A page of the opt-outs. */
export const list = pagesOf(listed, () => ({ item: optOutJson('o'), page: 'o', table: 'opt_outs' }), {
  text: ['search'],
})

interface NewOptOut {
  id: string
  phone: string
  phoneKey: string
  note: string | null
  source: 'manual' | 'reply' | 'provider'
  campaignId: string | null
  /** Text: a parameter with no type of its own costs the driver less. */
  now: string
}

/** The statement that changed opt-outs, with their rows as `changed`. */
type Changed = TenantTables & { changed: { phone_key: string } }
type Changing = QueryCreator<Changed>
/** A part of each statement that changes opt-outs: moves what shows them. */
export type Mark = (db: Changing, now: unknown) => CommonTableExpressionOutput<Changed, 'marked'>

const marksNothing: Mark = (db) => db.selectFrom('changed').select('changed.phone_key as id')

const insertOptOut = prepared((db, values: NewOptOut, wired) =>
  db
    .with('changed', (inner) =>
      inner
        .insertInto('opt_outs')
        .values({
          id: values.id,
          phone: values.phone,
          phone_key: values.phoneKey,
          note: values.note,
          source: values.source,
          campaign_id: values.campaignId,
          created_at: values.now,
          updated_at: values.now,
        })
        .onConflict((conflict) => conflict.columns(['store_id', 'phone_key']).doNothing())
        .returningAll(),
    )
    .with('marked', (inner) => (wired.optOutsChanged ?? marksNothing)(inner, values.now))
    .selectFrom('changed')
    .select(sql<string>`${optOutJson('changed')}::text`.as('text')),
)

const removeOptOut = prepared((db, values: { phoneKey: string; now: string }, wired) =>
  db
    .with('changed', (inner) =>
      inner.deleteFrom('opt_outs').where('phone_key', '=', values.phoneKey).returningAll(),
    )
    .with('marked', (inner) => (wired.optOutsChanged ?? marksNothing)(inner, values.now))
    .selectFrom('changed')
    .select('changed.id'),
)

/** Opts a phone out by hand, in one statement. Refuses what is no phone, and one that is opted out already. */
export async function addByHand(
  ctx: Context,
  input: { phone: string; note?: string | null },
): Promise<JsonText> {
  const phone = parsePhone(input.phone, ctx.store.country)
  if (!phone) throw refuse('bad_request', 'phone: is not a phone number')
  const [added] = await insertOptOut(ctx, {
    id: ctx.newId(),
    phone,
    phoneKey: phoneKey(phone),
    note: input.note ?? null,
    source: 'manual',
    campaignId: null,
    now: ctx.now().toISOString(),
  })
  if (!added) throw refuse('conflict', `phone: ${phone} is opted out already`)
  return new JsonText(added.text)
}

/** Lets campaigns write to a phone again. Refuses one that is not opted out, or no phone at all. */
export async function remove(ctx: Context, text: string): Promise<void> {
  const phone = parsePhone(text, ctx.store.country)
  const now = ctx.now().toISOString()
  const deleted = phone ? await removeOptOut(ctx, { phoneKey: phoneKey(phone), now }) : []
  if (deleted.length === 0) throw refuse('not_found', 'This phone is not opted out')
}

/** One look into the index for each phone, whatever the planner thinks of `= any(…)`. */
const findAmong = prepared((db, values: { keys: string[] }) =>
  db
    .selectFrom(sql<{ key: string }>`unnest(${values.keys}::text[])`.as<'k'>(sql`k(key)`))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('opt_outs as o')
          .select('o.id')
          .whereRef('o.phone_key', '=', 'k.key')
          .limit(1)
          .as('found'),
      (join) => join.onTrue(),
    )
    .select('k.key'),
)

/** Which of these phones are opted out. Takes E.164 or match forms (`phoneKey`), answers match forms. */
export async function among(ctx: Context, phones: readonly string[]): Promise<Set<string>> {
  if (phones.length === 0) return new Set()
  const rows = await findAmong(ctx, { keys: [...new Set(phones.map(phoneKey))] })
  return new Set(rows.map((row) => row.key))
}

/**
 * Opts a phone (E.164) out, in the caller's transaction where there is one. One that is opted out already stays as it
 * is. Answers whether it is new.
 */
export async function add(
  ctx: Context,
  phone: string,
  source: 'manual' | 'reply' | 'provider',
  campaignId: string | null = null,
): Promise<boolean> {
  const added = await insertOptOut(ctx, {
    id: ctx.newId(),
    phone,
    phoneKey: phoneKey(phone),
    note: null,
    source,
    campaignId,
    now: ctx.now().toISOString(),
  })
  return added.length > 0
}
