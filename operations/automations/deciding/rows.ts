/** Reads executions with their run, automation, order, cart and coupons, in one statement. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { greatestKnown } from '#runtime/database/sql'
import { emailKeySql } from '#runtime/values/email'
import type { AutomationMessage, AutomationType, CouponSpec, Flow, QuietHours } from '../types.ts'
import type { CartState, CouponOfRun, Line, OrderFacts } from './facts.ts'

export interface EngineRow {
  id: string
  run_id: string
  automation_id: string
  sequence: number
  step_id: string | null
  status: 'pending' | 'sending'
  phone: string | null
  phone_key: string | null
  scheduled_at: Date
  hold_reason: string | null
  held_since: Date | null
  held_ms: number
  hold_tries: number
  /** When the message was due before it was held; null if it never was. */
  due_at: Date | null
  is_forced: boolean
  passed_purchase_check: boolean
  reservation_id: string | null
  attempts: number
  origin: 'event' | 'manual'
  entry_event: string
  entered_at: Date
  occurred_at: Date
  email: string | null
  contact_name: string | null
  cart_id: string | null
  order_id: string | null
  customer_id: string | null
  flow_version: number | null
  type: AutomationType
  delay_minutes: number
  automation_name: string
  is_active: boolean
  is_deleted: boolean
  message: AutomationMessage
  coupon: CouponSpec | null
  cooldown_hours: number
  skip_if_purchased: boolean
  quiet_hours: QuietHours
  settings: Record<string, unknown>
  /** The flow version of the run. */
  flow: Flow | null
  order: OrderFacts | null
  cart: CartState | null
  coupons: CouponOfRun[]
  /**
   * The contact's orders since the trigger, without cancelled ones: 2 if one is paid, 1 if none is paid, null if there
   * are none.
   */
  bought: number | null
  /** Like `bought`, but for the orders made from the run's cart. */
  cart_bought: number | null
  /** Whether the contact has a newer order than the run's. */
  has_newer_order: boolean
}

interface RawRow extends Omit<EngineRow, 'order' | 'cart' | 'coupons'> {
  order: (Omit<OrderFacts, 'placed_at'> & { placed_at: string }) | null
  cart: (Omit<CartState, 'last_activity_at'> & { last_activity_at: string }) | null
  coupons: (Omit<CouponOfRun, 'endsAt'> & { endsAt: string })[]
}

const lineJson = sql`json_build_object('productId', i.product_id, 'name', i.name, 'quantity', i.quantity,
  'total', i.total::text)`

const findRows = prepared<{ ids: readonly string[] }, RawRow>((db, values) => {
  const worth = sql<
    number | null
  >`max(case when p.payment_status in ('paid', 'partially-refunded') then 2 else 1 end)`
  const placed = db.selectFrom('orders as p').where('p.status', '<>', 'cancelled')
  const since = placed.where(sql<boolean>`p.placed_at > r.occurred_at`)
  const newer = placed.where(sql<boolean>`p.placed_at > o.placed_at`).where(sql<boolean>`p.id <> o.id`)
  const items = db
    .selectFrom('order_items as i')
    .select(sql<Line[]>`coalesce(json_agg(${lineJson} order by i.position), '[]')`.as('items'))
    .where(sql<boolean>`i.order_id = o.id`)
  const ended = db
    .selectFrom('orders as p')
    .select('p.id')
    .where('p.status', '=', 'cancelled')
    .where(sql<boolean>`p.id = c.order_id`)
  const named = db
    .selectFrom(sql<{ line: unknown }>`jsonb_array_elements(c.items)`.as<'l'>(sql`l(line)`))
    .select(sql<number>`1`.as('one'))
    .where(sql<boolean>`l.line ->> 'productId' is not null`)
  // A product that is not in the catalog cache counts as on sale.
  const onSale = named.where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('product_snapshots as s')
          .select('s.product_id')
          .where(sql<boolean>`s.product_id = l.line ->> 'productId'`)
          .where(sql<boolean>`not (s."exists" and s.is_published)`),
      ),
    ),
  )
  const coupons = db
    .selectFrom('automation_coupons as k')
    .select(
      sql`coalesce(json_agg(json_build_object('stepId', k.step_id, 'code', k.code, 'type', k.spec ->> 'type',
        'value', coalesce(k.amount, (k.spec ->> 'value')::numeric), 'endsAt', iso(k.ends_at), 'isMade', k.is_made, 'spec', k.spec)
        order by k.created_at, k.code), '[]')`.as('coupons'),
    )
    .where(sql<boolean>`k.run_id = r.id`)
  return db
    .selectFrom('automation_executions as e')
    .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
    .innerJoin('automations as a', 'a.id', 'e.automation_id')
    .leftJoin('automation_flow_versions as v', (join) =>
      join.onRef('v.automation_id', '=', 'a.id').onRef('v.version', '=', 'r.flow_version'),
    )
    .leftJoin('orders as o', 'o.id', 'r.order_id')
    .leftJoin('carts as c', 'c.id', 'r.cart_id')
    .select((eb) => [
      'e.id',
      'e.run_id',
      'e.automation_id',
      'e.sequence',
      'e.step_id',
      'e.status',
      'e.phone',
      'e.phone_key',
      'e.scheduled_at',
      'e.hold_reason',
      'e.held_since',
      'e.held_ms',
      'e.hold_tries',
      'e.due_at',
      'e.is_forced',
      'e.passed_purchase_check',
      'e.reservation_id',
      'e.attempts',
      'r.origin',
      'r.event as entry_event',
      'r.entered_at',
      'r.occurred_at',
      'r.email',
      'r.contact_name',
      'r.cart_id',
      'r.order_id',
      'r.customer_id',
      'r.flow_version',
      'a.type',
      'a.delay_minutes',
      'a.name as automation_name',
      'a.is_active',
      sql<boolean>`a.deleted_at is not null`.as('is_deleted'),
      'a.message',
      'a.coupon',
      sql<number>`(a.conditions ->> 'cooldownHours')::int`.as('cooldown_hours'),
      'a.skip_if_purchased',
      'a.quiet_hours',
      'a.settings',
      'v.flow',
      sql`case when o.id is not null then json_build_object('id', o.id, 'number', o.number, 'status', o.status,
        'payment_status', o.payment_status, 'currency', o.currency, 'total', o.total::text,
        'shipping', o.shipping::text, 'refunded_total', o.refunded_total::text,
        'payment_method', o.payment_method, 'payment_url', o.payment_url, 'status_url', o.status_url,
        'tracking_code', o.tracking_code, 'tracking_url', o.tracking_url, 'placed_at', iso(o.placed_at),
        'items', (${items})) end`.as('order'),
      sql`case when c.id is not null then json_build_object('id', c.id, 'total', c.total::text,
        'currency', c.currency, 'url', c.url, 'order_id', c.order_id, 'items', c.items,
        'last_activity_at', iso(c.last_activity_at), 'order_is_cancelled', exists (${ended}),
        'has_products', not exists (${named}) or exists (${onSale})) end`.as('cart'),
      sql`(${coupons})`.as('coupons'),
      greatestKnown<number | null>(
        since.where(sql<boolean>`p.phone_key = r.phone_key`).select(worth.as('worth')),
        since.where(sql<boolean>`p.customer_id = r.customer_id`).select(worth.as('worth')),
        since
          .where(sql<boolean>`${emailKeySql('p.customer_email')} = ${emailKeySql('r.email')}`)
          .select(worth.as('worth')),
      ).as('bought'),
      greatestKnown<number | null>(
        placed.where(sql<boolean>`p.cart_id = r.cart_id`).select(worth.as('worth')),
        placed.where(sql<boolean>`p.id = c.order_id`).select(worth.as('worth')),
      ).as('cart_bought'),
      eb
        .or([
          eb.exists(newer.where(sql<boolean>`p.phone_key = r.phone_key`).select('p.id')),
          eb.exists(newer.where(sql<boolean>`p.customer_id = r.customer_id`).select('p.id')),
        ])
        .as('has_newer_order'),
    ])
    .where('e.id', '=', sql<string>`any(${values.ids}::uuid[])`)
    .where('e.status', 'in', ['pending', 'sending'])
    .orderBy('e.scheduled_at')
    .orderBy('e.id') as never
})

/** Reads the pending and sending ones of these executions, ordered by due time. */
export async function readRows(ctx: Context, ids: readonly string[]): Promise<EngineRow[]> {
  if (ids.length === 0) return []
  return (await findRows(ctx, { ids })).map((row) => ({
    ...row,
    order: row.order && { ...row.order, placed_at: new Date(row.order.placed_at) },
    cart: row.cart && { ...row.cart, last_activity_at: new Date(row.cart.last_activity_at) },
    coupons: row.coupons.map((coupon) => ({ ...coupon, endsAt: new Date(coupon.endsAt) })),
  }))
}
