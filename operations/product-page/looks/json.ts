/** Builds the JSON of looks, with prices and availability from the catalog cache. */
import { type RawBuilder, sql } from 'kysely'
import { itemShape, selectItems } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonFields, jsonObject } from '#runtime/database/json'
import { roundToCents } from '#runtime/database/sql'
import type { LookContent } from './schema.ts'

type Db = Context['db']

const content = (...keys: (keyof LookContent)[]) => jsonFields('l.content', keys)
const items = sql`l.content -> 'items'`
const isMissing = sql`x."shown_status" = 'missing'`
const isAvailable = sql`x."shown_status" = 'available'`

/** An item with its position on the picture, which is taken from the look, not from the catalog cache. */
const itemJson = jsonObject({
  ...itemShape,
  hotspot: sql`${items} -> (x.place::int - 1) -> 'hotspot'`,
})

const totalsJson = (db: Db, which: RawBuilder<unknown> = sql`true`) =>
  db
    .selectFrom(selectItems(db, items).as('x'))
    .select([
      sql`coalesce(json_agg(${itemJson} order by x.place) filter (where ${which}), '[]')`.as('items'),
      roundToCents(sql`sum(x."shown_unitPrice" * x.quantity) filter (where not ${isMissing})`).as('total'),
      sql`array_agg(distinct x.currency) filter (where not ${isMissing})`.as('currencies'),
    ])
    .as('t')

/** Sub-query for a look `l` as JSON. */
export const lookJson = (db: Db, currency: unknown): RawBuilder<unknown> =>
  sql`(${db.selectFrom(totalsJson(db)).select(
    jsonObject({
      id: 'l.id',
      name: 'l.name',
      ...content('description', 'imageUrl', 'imageAlt'),
      isActive: 'l.is_active',
      ...content('showOnProductPages'),
      items: sql`t.items`,
      health: 'l.health',
      checkedAt: isoInstant('l.checked_at'),
      // Amounts of several currencies are not added.
      total: sql`case when t.currencies = array[${currency}::text] then t.total end`,
      currency: sql`${currency}::text`,
      impressions: 'l.impressions',
      clicks: 'l.clicks',
      addsToCart: 'l.cart_adds',
      createdAt: isoInstant('l.created_at'),
      updatedAt: isoInstant('l.updated_at'),
    }).as('json'),
  )})`

/** Sub-query for the public JSON of a look. Deleted products are left out, and sold-out items if the settings hide them. */
export const publicLookJson = (db: Db, hidesSoldOut: unknown): RawBuilder<unknown> => {
  const shown = sql`(${isAvailable} or (x."shown_status" = 'out-of-stock' and not ${hidesSoldOut}::boolean))`
  return sql`(${db.selectFrom(totalsJson(db, shown)).select(
    jsonObject({
      id: 'l.id',
      name: 'l.name',
      ...content('description', 'imageUrl', 'imageAlt'),
      items: sql`t.items`,
    }).as('json'),
  )})`
}

/** Sub-query for the health of a look `l` according to the catalog cache (rule 4). */
export const healthSql = (db: Db): RawBuilder<string> =>
  sql<string>`(${db.selectFrom(selectItems(db, items).as('x')).select(
    sql`case when bool_and(${isAvailable}) then 'healthy'
      when count(*) filter (where ${isAvailable}) < 2 then 'broken' else 'degraded' end`.as('health'),
  )})`

/** Sub-query for the items of a look `l` that cannot be bought. */
const problemsJson = (db: Db): RawBuilder<unknown> =>
  sql`(${db.selectFrom(selectItems(db, items).as('x')).select(
    sql`coalesce(json_agg(${jsonObject({
      productId: 'x.product_id',
      variantId: 'x.variant_id',
      name: 'x.shown_name',
      status: 'x.shown_status',
    })} order by x.place) filter (where not ${isAvailable}), '[]')`.as('problems'),
  )})`

/** A look `l` as an entry of the list of problems, with its unavailable items. */
export const problemJson = (db: Db): RawBuilder<unknown> =>
  jsonObject({
    lookId: 'l.id',
    name: 'l.name',
    isActive: 'l.is_active',
    health: 'l.health',
    checkedAt: isoInstant('l.checked_at'),
    problems: problemsJson(db),
  })

/** Whether a look `l` contains one of these products. */
export const containsAny = (productIds: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select from jsonb_array_elements(${items}) as i(item)
    where i.item ->> 'productId' = any(${productIds}))`
