/** Bundles as JSON, with prices and states of the mirror of the catalog (rule 4). */
import { sql } from 'kysely'
import { itemJson, itemsOf } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { fieldsOf, jsonObject } from '#runtime/database/json'
import { greatest, inCents, least, percentageOf } from '#runtime/database/sql'
import { commonShape, content, contentText, timesShape } from '../discounts/json.ts'

type Db = Context['db']

const value = sql`(${contentText('discountValue')})::numeric`
const discountAmount = sql`case ${contentText('discountType')}
  when 'percentage' then ${percentageOf(sql`t.regular`, value)}
  when 'fixed' then ${least(value, sql`t.regular`)}
  else ${greatest(sql`t.regular - ${value}`, sql`0`)} end`

/** What the items of a row `d` come to, as `t`. */
const totalsOf = (db: Db) =>
  db
    .selectFrom(itemsOf(db, content('items')).as('x'))
    .select([
      sql`json_agg(${itemJson} order by x.place)`.as('items'),
      sql<string | null>`case when bool_or(x."shown_status" = 'missing') then null
        else sum(x."shown_unitPrice" * x.quantity) end`.as('regular'),
      sql<string>`case when bool_or(x."shown_status" in ('missing', 'unpublished')) then 'unavailable'
        when bool_or(x."shown_status" = 'out-of-stock') then 'out-of-stock' else 'available' end`.as(
        'availability',
      ),
    ])
    .as('t')

/** What shoppers see of it. */
const publicShape = {
  title: sql`coalesce(${contentText('title')}, d.name)`,
  ...fieldsOf('d.content', ['description', 'imageUrl']),
  items: sql`t.items`,
  regularPrice: inCents(sql`t.regular`),
  discountAmount: inCents(discountAmount),
  bundlePrice: inCents(sql`t.regular - ${discountAmount}`),
  currency: 'd.currency',
  availability: sql`t.availability`,
}

const termsShape = fieldsOf('d.content', ['discountType', 'discountValue', 'maxPerOrder', 'showOn'])

/** One bundle `d` as JSON: a sub-query. */
export const bundleJson = (db: Db, now: unknown) =>
  sql`(${db.selectFrom(totalsOf(db)).select(
    jsonObject({
      ...commonShape(db, now),
      ...publicShape,
      title: content('title'),
      ...termsShape,
      impressions: 'd.impressions',
      addsToCart: 'd.cart_adds',
      ...timesShape,
    }).as('json'),
  )})`

/** The same for shoppers. */
export const publicBundleJson = (db: Db) =>
  sql`(${db.selectFrom(totalsOf(db)).select(
    jsonObject({
      id: 'd.id',
      ...publicShape,
      ...termsShape,
    }).as('json'),
  )})`

/** `availability` of a bundle `d`: a sub-query. */
export const bundleAvailability = (db: Db) =>
  sql<string>`(${db.selectFrom(totalsOf(db)).select(sql`t.availability`.as('availability'))})`
