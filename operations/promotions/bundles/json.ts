/** Builds the JSON of bundles, with prices and states from the catalog cache (rule 4). */
import { sql } from 'kysely'
import { itemJson, selectItems } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { jsonFields, jsonObject } from '#runtime/database/json'
import { greatest, least, roundInCurrency, roundToCents, takePercentage } from '#runtime/database/sql'
import { buildCommonShape, contentJson, contentText, timesShape } from '../discounts/json.ts'

type Db = Context['db']

const value = sql`(${contentText('discountValue')})::numeric`
const currency = sql.ref('d.currency')
const amount = roundInCurrency(value, currency)
const discountAmount = sql`case ${contentText('discountType')}
  when 'percentage' then ${takePercentage(sql`t.regular`, value, currency)}
  when 'fixed' then ${least(amount, sql`t.regular`)}
  else ${greatest(sql`t.regular - ${amount}`, sql`0`)} end`

/** Whether the bundle `d` costs as much as its items apart: it is not shown, and no checkout applies it. */
const savesNothing = sql<boolean>`(${discountAmount} is not distinct from 0)`
const availability = sql<string>`case when ${savesNothing} then 'unavailable' else t.availability end`

/** Selects the items of a row `d` as JSON with their totals. Callers use the result under the alias `t`. */
const selectTotals = (db: Db) =>
  db
    .selectFrom(selectItems(db, contentJson('items')).as('x'))
    .select([
      sql`json_agg(${itemJson} order by x.place)`.as('items'),
      sql<
        string | null
      >`case when bool_or(x."shown_status" = 'missing' or x.currency <> ${currency}) then null
        else sum(x."shown_unitPrice" * x.quantity) end`.as('regular'),
      sql<string>`case when bool_or(x."shown_status" in ('missing', 'unpublished')) then 'unavailable'
        when bool_or(x."shown_status" = 'out-of-stock') then 'out-of-stock' else 'available' end`.as(
        'availability',
      ),
    ])
    .as('t')

/** Fields shown to shoppers. */
const publicShape = {
  title: sql`coalesce(${contentText('title')}, d.name)`,
  ...jsonFields('d.content', ['description', 'imageUrl']),
  items: sql`t.items`,
  regularPrice: roundToCents(sql`t.regular`),
  discountAmount: roundToCents(discountAmount),
  bundlePrice: roundToCents(sql`t.regular - ${discountAmount}`),
  currency: 'd.currency',
  availability,
}

const termsShape = jsonFields('d.content', ['discountType', 'discountValue', 'maxPerOrder', 'showOn'])

/** Sub-query for one bundle `d` as JSON. */
export const bundleJson = (db: Db, now: unknown) =>
  sql`(${db.selectFrom(selectTotals(db)).select(
    jsonObject({
      ...buildCommonShape(db, now),
      ...publicShape,
      title: contentJson('title'),
      ...termsShape,
      impressions: 'd.impressions',
      addsToCart: 'd.cart_adds',
      ...timesShape,
    }).as('json'),
  )})`

/** The public JSON of a bundle `d`. */
export const publicBundleJson = (db: Db) =>
  sql`(${db.selectFrom(selectTotals(db)).select(
    jsonObject({
      id: 'd.id',
      ...publicShape,
      ...termsShape,
    }).as('json'),
  )})`

/** Sub-queries for the `availability` of a bundle `d`, and for whether it saves nothing. */
export const bundleAvailability = (db: Db) =>
  sql<string>`(${db.selectFrom(selectTotals(db)).select(availability.as('availability'))})`
export const bundleSavesNothing = (db: Db) =>
  sql<boolean>`(${db.selectFrom(selectTotals(db)).select(savesNothing.as('saves_nothing'))})`
