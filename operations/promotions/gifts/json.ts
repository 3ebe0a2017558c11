/** Builds the JSON of cart gifts, with name, price and state of the product from the catalog cache. */
import { sql } from 'kysely'
import { selectItems } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { jsonFields, jsonObject } from '#runtime/database/json'
import { buildCommonShape, timesShape } from '../discounts/json.ts'

type Db = Context['db']

const content = (keys: readonly string[]) => jsonFields('d.content', keys)

const selectGift = (db: Db) => selectItems(db, sql`jsonb_build_array(d.content -> 'gift')`).as('x')

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

/** Sub-query for one cart gift `d` as JSON. */
export const giftJson = (db: Db, now: unknown) =>
  sql`(${db.selectFrom(selectGift(db)).select(
    jsonObject({
      ...buildCommonShape(db, now),
      ...content(['minAmount', 'amountBasis']),
      gift: jsonObject(giftShape),
      ...content(['addAutomatically', 'usageLimit', 'usageLimitPerCustomer', 'message', 'successMessage']),
      ...timesShape,
    }).as('json'),
  )})`

/** The public JSON of a gift `d`. */
export const publicGiftJson = (db: Db) =>
  sql`(${db.selectFrom(selectGift(db)).select(
    jsonObject({
      id: 'd.id',
      ...content(['minAmount', 'amountBasis']),
      currency: 'd.currency',
      gift: jsonObject({ ...giftShape, url: 'x.shown_url' }),
      ...content(['addAutomatically', 'message', 'successMessage', 'combinesWith']),
    }).as('json'),
  )})`
