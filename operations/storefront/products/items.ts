/** Items that name a product and optionally a variant: their JSON with data of the catalog cache, and their validation. */
import { type RawBuilder, sql } from 'kysely'
import { amounts } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { jsonObject } from '#runtime/database/json'
import type * as snapshots from '../catalog/snapshots.ts'

type Db = Context['db']

/** The `ItemStatus` of an item in SQL; `p` is its product and `v` its variant, both left-joined. */
const itemStatusSql = (db: Db, variantId: RawBuilder<unknown>): RawBuilder<string> => {
  const variants = db
    .selectFrom('product_snapshot_variants as a')
    .where('a.product_id', '=', sql<string>`p.product_id`)
  return sql<string>`case
    when p.product_id is null or not p.exists or (${variantId} is not null and v.variant_id is null) then 'missing'
    when not p.is_published then 'unpublished'
    when ${variantId} is not null then case when v.stock = 0 then 'out-of-stock' else 'available' end
    when (${variants.select(sql`bool_and(a.stock is not distinct from 0)`.as('out'))}) then 'out-of-stock'
    else 'available' end`
}

/**
 * The fields of an item besides its ids, such as names and price, from the catalog cache. Uses the tables of
 * `selectItems`.
 */
const shownFields = (db: Db): Record<string, RawBuilder<unknown> | string> => {
  const variantId = sql`i.item ->> 'variantId'`
  const status = itemStatusSql(db, variantId)
  return {
    name: 'p.name',
    variantName: 'v.name',
    imageUrl: sql`coalesce(v.image_url, p.image_url)`,
    url: 'p.url',
    unitPrice: sql`case when ${status} <> 'missing' then coalesce(v.price, p.price) end`,
    status,
  }
}

/**
 * Selects the items of a JSON list, one row per item: `place` (from 1), `product_id`, `variant_id`, `quantity`, and a
 * column `shown_<name>` for each field of `shownFields`.
 */
export function selectItems(db: Db, list: RawBuilder<unknown>) {
  const given = sql<{ item: unknown; place: number }>`jsonb_array_elements(${list}) with ordinality`
  const fields = shownFields(db)
  const rows = db
    .selectFrom(given.as<'i'>(sql`i(item, place)`))
    .leftJoin('product_snapshots as p', (join) =>
      join.on('p.product_id', '=', sql<string>`i.item ->> 'productId'`),
    )
    .leftJoin('product_snapshot_variants as v', (join) =>
      join
        .onRef('v.product_id', '=', 'p.product_id')
        .on('v.variant_id', '=', sql<string>`i.item ->> 'variantId'`),
    )
    .select([
      sql<number>`i.place`.as('place'),
      sql<number>`(i.item ->> 'quantity')::integer`.as('quantity'),
      sql<string>`i.item ->> 'productId'`.as('product_id'),
      sql<string | null>`i.item ->> 'variantId'`.as('variant_id'),
      'p.currency',
      ...Object.entries(fields).map(([key, part]) =>
        (typeof part === 'string' ? sql.ref(part) : part).as(`shown_${key}`),
      ),
    ])
  return rows
}

/** The shown fields of an item, for a row of `selectItems` with the alias `x`. */
export const itemShape = {
  productId: 'x.product_id',
  variantId: 'x.variant_id',
  quantity: 'x.quantity',
  name: 'x.shown_name',
  variantName: 'x.shown_variantName',
  imageUrl: 'x.shown_imageUrl',
  url: 'x.shown_url',
  unitPrice: 'x.shown_unitPrice',
  status: 'x.shown_status',
}
/** `itemShape` as JSON. */
export const itemJson = jsonObject(itemShape)

/** The unit price of an item in cents of its currency, or null if the product or variant no longer exists. */
export function getUnitCents(
  product: snapshots.Snapshot | undefined,
  variantId: string | null,
): bigint | null {
  if (!product?.exists) return null
  const { toCents } = amounts.inCurrency(product.currency)
  if (variantId === null) return toCents(product.price)
  const variant = product.variants.find((each) => each.variantId === variantId)
  return variant ? toCents(variant.price) : null
}
