/**
 * Phones that opted out: they may only be sent messages that they asked for. A phone is unique per store by its match
 * form (`phoneKey`).
 */
import { type CommonTableExpressionOutput, type Kysely, type QueryCreator, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { preparedPages } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { phoneLike, toPhonePatterns } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { phoneKey, requirePhone } from '#runtime/values/phone'
import { parseAddress } from '../addresses.ts'

const optOutJson = (row: string) =>
  jsonObject({
    id: `${row}.id`,
    phone: `${row}.phone`,
    note: `${row}.note`,
    source: `${row}.source`,
    campaignId: `${row}.campaign_id`,
    createdAt: isoInstant(`${row}.created_at`),
    updatedAt: isoInstant(`${row}.updated_at`),
  })

export interface OptOutFilters {
  /** Digits contained in the phone. */
  search?: string | undefined
  source?: string | undefined
}

interface Conditions {
  /** Patterns for `phoneLike`. */
  search?: string[]
  source?: string
}

export const optOutList = {
  filters: (ctx: Context, { search, source }: OptOutFilters): Conditions => ({
    ...(search === undefined ? {} : { search: toPhonePatterns(search, ctx.store.country) ?? [] }),
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

export const list = preparedPages(
  optOutList,
  () => ({ item: optOutJson('o'), page: 'o', table: 'opt_outs' }),
  {
    text: ['search'],
  },
)

interface NewOptOut {
  id: string
  phone: string
  phoneKey: string
  note: string | null
  source: 'manual' | 'reply' | 'provider'
  campaignId: string | null
  /** Sent as text: untyped parameters are cheaper for the driver. */
  now: string
}

/** The tables, plus the changed opt-outs as `changed`. */
type WithChanged = TenantTables & { changed: { phone_key: string } }
type ChangeQuery = QueryCreator<WithChanged>
/** A CTE added to each statement that changes opt-outs, to update what depends on them. */
export type OptOutUpdate = (
  db: ChangeQuery,
  now: unknown,
) => CommonTableExpressionOutput<WithChanged, 'marked'>

const noUpdate: OptOutUpdate = (db) => db.selectFrom('changed').select('changed.phone_key as id')

const insertOptOut = prepared((db, values: NewOptOut, extensions) =>
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
    .with('marked', (inner) => (extensions.optOutsChanged ?? noUpdate)(inner, values.now))
    .selectFrom('changed')
    .select(sql<string>`${optOutJson('changed')}::text`.as('text')),
)

const removeOptOut = prepared((db, values: { phoneKey: string; now: string }, extensions) =>
  db
    .with('changed', (inner) =>
      inner.deleteFrom('opt_outs').where('phone_key', '=', values.phoneKey).returningAll(),
    )
    .with('marked', (inner) => (extensions.optOutsChanged ?? noUpdate)(inner, values.now))
    .selectFrom('changed')
    .select('changed.id'),
)

/** Opts a phone out by hand, in one statement. Refuses an invalid phone, and a phone that is opted out already. */
export async function addByHand(
  ctx: Context,
  input: { phone: string; note?: string | null },
): Promise<JsonText> {
  const phone = parseAddress(input.phone, ctx.store.country) ?? requirePhone(input.phone, ctx.store.country)
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

/** Removes an opt-out, so that campaigns may use the phone again. Refuses an unknown or invalid phone. */
export async function remove(ctx: Context, text: string): Promise<void> {
  const phone = parseAddress(text, ctx.store.country)
  const now = ctx.now().toISOString()
  const deleted = phone ? await removeOptOut(ctx, { phoneKey: phoneKey(phone), now }) : []
  if (deleted.length === 0) throw refuse('not_found', 'This phone is not opted out')
}

/** A lateral join forces one index lookup per phone; the planner may choose a scan for `= any(…)`. */
const findOptedOutKeys = prepared((db, values: { keys: string[] }) =>
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

/** Finds the phones that are opted out. Takes E.164 or match forms (`phoneKey`), returns match forms. */
export async function findOptedOut(ctx: Context, phones: readonly string[]): Promise<Set<string>> {
  if (phones.length === 0) return new Set()
  const rows = await findOptedOutKeys(ctx, { keys: [...new Set(phones.map(phoneKey))] })
  return new Set(rows.map((row) => row.key))
}

/** Opts a phone (E.164) out, in the caller's transaction if there is one. Returns whether the opt-out is new. */
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
