/** Cart gifts as JSON, with the name, price and state of the gift from the mirror of the catalog. */
import { sql } from 'kysely'
import { itemsOf } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { fieldsOf, jsonObject } from '#runtime/database/json'
import { commonShape, timesShape } from '../discounts/json.ts'

type Db = Context['db']

const content = (keys: readonly string[]) => fieldsOf('d.content', keys)

const giftOf = (db: Db) => itemsOf(db, sql`jsonb_build_array(d.content -> 'gift')`).as('x')

const giftShape = {
  productId: 'x.product_id',
  variantId: 'x.variant_id',
  quantity: 'x.quantity',
  name: 'x.shown_name',
  variantName: 'x.shown_variantName',
  imageUrl: 'x.shown_imageUrl',
  unitPrice: 'x.shown_unitPrice',
  status: 'x.shown_status',
}

/** One cart gift `d` as JSON: a sub-query. */
export const giftJson = (db: Db, now: unknown) =>
  sql`(${db.selectFrom(giftOf(db)).select(
    jsonObject({
      ...commonShape(db, now),
      ...content(['minAmount', 'amountBasis']),
      gift: jsonObject(giftShape),
      ...content(['addAutomatically', 'usageLimit', 'usageLimitPerCustomer', 'message', 'successMessage']),
      ...timesShape,
    }).as('json'),
  )})`

/** The same for shoppers. */
export const publicGiftJson = (db: Db) =>
  sql`(${db.selectFrom(giftOf(db)).select(
    jsonObject({
      id: 'd.id',
      ...content(['minAmount', 'amountBasis']),
      currency: 'd.currency',
      gift: jsonObject({ ...giftShape, url: 'x.shown_url' }),
      ...content(['addAutomatically', 'message', 'successMessage', 'combinesWith']),
    }).as('json'),
  )})`
