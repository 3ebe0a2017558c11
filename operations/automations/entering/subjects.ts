/** Reads orders and carts, and converts those that trigger an automation to entries. */
import { sql } from 'kysely'
import type { StoreFacts } from '#db/access'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { emailKeySql } from '#runtime/values/email'
import { calculateCashback } from '../deciding/coupon-codes.ts'
import { isCartEligible, isOrderEligible } from '../deciding/eligibility.ts'
import type { Line } from '../deciding/facts.ts'
import { type CashbackSettings, entryKeys, kinds } from '../kinds.ts'
import type { AutomationRow, AutomationType } from '../types.ts'
import { type ConditionFacts, meetsConditions } from './conditions.ts'
import type { Entry } from './enter.ts'

interface SubjectRow {
  id: string
  customer_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  phone_key: string | null
  total: string
  currency: string
  items: Line[]
  has_earlier: boolean
}

export interface OrderSubject extends SubjectRow {
  status: string
  payment_status: string
  shipping: string
  refunded_total: string
  payment_method: string | null
  cart_id: string | null
  placed_at: Date
  paid_at: Date | null
  shipped_at: Date | null
  delivered_at: Date | null
  cancelled_at: Date | null
}

export interface CartSubject extends SubjectRow {
  order_id: string | null
  last_activity_at: Date
}

const findOrders = prepared<{ ids: readonly string[] }, OrderSubject>((db, values) => {
  const earlier = db
    .selectFrom('orders as p')
    .select('p.id')
    .where('p.status', '<>', 'cancelled')
    .where(sql<boolean>`p.placed_at < o.placed_at`)
  return db
    .selectFrom('orders as o')
    .select((eb) => [
      'o.id',
      'o.customer_id',
      'o.customer_name',
      'o.customer_email',
      'o.customer_phone',
      'o.phone_key',
      'o.total',
      'o.status',
      'o.payment_status',
      'o.currency',
      'o.shipping',
      'o.refunded_total',
      'o.payment_method',
      'o.cart_id',
      'o.placed_at',
      'o.paid_at',
      'o.shipped_at',
      'o.delivered_at',
      'o.cancelled_at',
      sql<Line[]>`(${db
        .selectFrom('order_items as i')
        .select(
          sql`coalesce(json_agg(json_build_object('productId', i.product_id, 'name', i.name,
            'quantity', i.quantity, 'total', i.total::text) order by i.position), '[]')`.as('items'),
        )
        .where(sql<boolean>`i.order_id = o.id`)})`.as('items'),
      eb
        .or([
          eb.exists(earlier.where(sql<boolean>`p.customer_id = o.customer_id`)),
          eb.exists(earlier.where(sql<boolean>`p.phone_key = o.phone_key`)),
          eb.exists(
            earlier.where(
              sql<boolean>`${emailKeySql('p.customer_email')} = ${emailKeySql('o.customer_email')}`,
            ),
          ),
        ])
        .as('has_earlier'),
    ])
    .where('o.id', '=', sql<string>`any(${values.ids}::text[])`)
    .orderBy('o.id') as never
})

const findCarts = prepared<{ ids: readonly string[] }, CartSubject>((db, values) => {
  const earlier = db
    .selectFrom('orders as p')
    .select('p.id')
    .where('p.status', '<>', 'cancelled')
    .where(sql<boolean>`p.placed_at < c.last_activity_at`)
  return db
    .selectFrom('carts as c')
    .select((eb) => [
      'c.id',
      'c.customer_id',
      'c.customer_name',
      'c.customer_email',
      'c.customer_phone',
      'c.phone_key',
      'c.total',
      'c.currency',
      'c.items',
      'c.order_id',
      'c.last_activity_at',
      eb
        .or([
          eb.exists(earlier.where(sql<boolean>`p.customer_id = c.customer_id`)),
          eb.exists(earlier.where(sql<boolean>`p.phone_key = c.phone_key`)),
          eb.exists(
            earlier.where(
              sql<boolean>`${emailKeySql('p.customer_email')} = ${emailKeySql('c.customer_email')}`,
            ),
          ),
        ])
        .as('has_earlier'),
    ])
    .where('c.id', '=', sql<string>`any(${values.ids}::text[])`)
    .orderBy('c.id') as never
})

export const readOrders = async (ctx: Context, ids: readonly string[]): Promise<OrderSubject[]> =>
  ids.length === 0 ? [] : findOrders(ctx, { ids })
export const readCarts = async (ctx: Context, ids: readonly string[]): Promise<CartSubject[]> =>
  ids.length === 0 ? [] : findCarts(ctx, { ids })

/** Category ids by product id. */
export type Categories = ReadonlyMap<string, readonly string[]>

/** Converts an order to an entry; null if the order does not trigger the automation or does not meet its conditions. */
export function toOrderEntry(
  automation: AutomationRow,
  order: OrderSubject,
  categories: Categories,
  { currency }: Pick<StoreFacts, 'currency'>,
): Entry | null {
  const { type, conditions, settings } = automation
  const occurredAt = getOccurredAt(type, order)
  if (!occurredAt) return null
  const cashback =
    type === 'cashback' ? calculateCashback(currency, order, settings as unknown as CashbackSettings) : 0
  if (!isOrderEligible(type, order, cashback)) return null
  const facts = toConditionFacts(order, order.payment_method ?? '', categories)
  if (!meetsConditions(conditions, facts, currency)) return null
  return {
    key: entryKeys.order(order.id),
    entityId: order.id,
    occurredAt,
    cartId: null,
    orderId: order.id,
    ...toPerson(order),
  }
}

const getOccurredAt = (type: AutomationType, order: OrderSubject): Date | null => {
  const column = kinds[type].occurredAt
  return column === 'last_activity_at' || column === 'scan' ? null : order[column]
}

/**
 * Like `toOrderEntry`, but for carts. Also null for a cart without a phone, which can trigger the automation once it
 * has one.
 */
export function toCartEntry(
  automation: AutomationRow,
  cart: CartSubject,
  categories: Categories,
  { currency }: Pick<StoreFacts, 'currency'>,
): Entry | null {
  if (cart.phone_key === null || !isCartEligible(cart)) return null
  const facts = toConditionFacts(cart, null, categories)
  if (!meetsConditions(automation.conditions, facts, currency)) return null
  return {
    key: entryKeys.cart(cart.id),
    entityId: cart.id,
    occurredAt: cart.last_activity_at,
    cartId: cart.id,
    orderId: null,
    ...toPerson(cart),
  }
}

export const toPerson = (subject: SubjectRow) => ({
  customerId: subject.customer_id,
  phone: subject.customer_phone,
  phoneKey: subject.phone_key,
  email: subject.customer_email,
  name: subject.customer_name,
})

function toConditionFacts(
  subject: SubjectRow,
  paymentMethod: string | null,
  categories: Categories,
): ConditionFacts {
  const productIds = subject.items.flatMap((item) => item.productId ?? [])
  return {
    total: subject.total,
    currency: subject.currency,
    productIds,
    categoryIds: new Set(productIds.flatMap((id) => categories.get(id) ?? [])),
    paymentMethod,
    hasEarlierOrder: subject.has_earlier,
  }
}
