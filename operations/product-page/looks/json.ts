/** Looks as JSON, with prices and states of the mirror of the catalog. */
import { type RawBuilder, sql } from 'kysely'
import { itemShape, itemsOf } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { fieldsOf, instantOf, jsonObject } from '#runtime/database/json'
import { inCents } from '#runtime/database/sql'
import type { LookContent } from './schema.ts'

type Db = Context['db']

const content = (...keys: (keyof LookContent)[]) => fieldsOf('l.content', keys)
const items = sql`l.content -> 'items'`
const isMissing = sql`x."shown_status" = 'missing'`
const isAvailable = sql`x."shown_status" = 'available'`

/** An item with its place on the picture, which the mirror knows nothing of. */
const itemJson = jsonObject({
  ...itemShape,
  hotspot: sql`${items} -> (x.place::int - 1) -> 'hotspot'`,
})

const totalsOf = (db: Db, which: RawBuilder<unknown> = sql`true`) =>
  db
    .selectFrom(itemsOf(db, items).as('x'))
    .select([
      sql`coalesce(json_agg(${itemJson} order by x.place) filter (where ${which}), '[]')`.as('items'),
      inCents(sql`sum(x."shown_unitPrice" * x.quantity) filter (where not ${isMissing})`).as('total'),
    ])
    .as('t')

/** One look `l` as JSON: a sub-query. */
export const lookJson = (db: Db, currency: unknown): RawBuilder<unknown> =>
  sql`(${db.selectFrom(totalsOf(db)).select(
    jsonObject({
      id: 'l.id',
      name: 'l.name',
      ...content('description', 'imageUrl', 'imageAlt'),
      isActive: 'l.is_active',
      ...content('showOnProductPages'),
      items: sql`t.items`,
      health: 'l.health',
      checkedAt: instantOf('l.checked_at'),
      total: sql`t.total`,
      currency: sql`${currency}::text`,
      impressions: 'l.impressions',
      clicks: 'l.clicks',
      addsToCart: 'l.cart_adds',
      createdAt: instantOf('l.created_at'),
      updatedAt: instantOf('l.updated_at'),
    }).as('json'),
  )})`

/** What shoppers see of it; without those sold out where they are hidden. What is gone is never shown. */
export const publicLookJson = (db: Db, hidesSoldOut: unknown): RawBuilder<unknown> => {
  const shown = sql`(${isAvailable} or (x."shown_status" = 'out-of-stock' and not ${hidesSoldOut}::boolean))`
  return sql`(${db.selectFrom(totalsOf(db, shown)).select(
    jsonObject({
      id: 'l.id',
      name: 'l.name',
      ...content('description', 'imageUrl', 'imageAlt'),
      items: sql`t.items`,
    }).as('json'),
  )})`
}

/** Health of a look `l` by the mirror (rule 4): a sub-query. */
export const healthIn = (db: Db): RawBuilder<string> =>
  sql<string>`(${db.selectFrom(itemsOf(db, items).as('x')).select(
    sql`case when bool_and(${isAvailable}) then 'healthy'
      when count(*) filter (where ${isAvailable}) < 2 then 'broken' else 'degraded' end`.as('health'),
  )})`

/** The items of a look `l` that cannot be bought: a sub-query. */
const problemsIn = (db: Db): RawBuilder<unknown> =>
  sql`(${db.selectFrom(itemsOf(db, items).as('x')).select(
    sql`coalesce(json_agg(${jsonObject({
      productId: 'x.product_id',
      variantId: 'x.variant_id',
      name: 'x.shown_name',
      status: 'x.shown_status',
    })} order by x.place) filter (where not ${isAvailable}), '[]')`.as('problems'),
  )})`

/** A look `l` with what is wrong with it. */
export const problemJson = (db: Db): RawBuilder<unknown> =>
  jsonObject({
    lookId: 'l.id',
    name: 'l.name',
    isActive: 'l.is_active',
    health: 'l.health',
    checkedAt: instantOf('l.checked_at'),
    problems: problemsIn(db),
  })

/** Whether a look `l` holds one of these products. */
export const holdsAny = (productIds: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select from jsonb_array_elements(${items}) as i(item)
    where i.item ->> 'productId' = any(${productIds}))`
