/** Rules 3: which touch an order came from, and the conversion that says so. */
import { sql } from 'kysely'
import type { NewRow, Row } from '#db/tables'
import type { Context } from '#runtime/context'
import {
  type ConversionChange,
  type ConversionRow,
  conversionListeners,
  type SourceType,
} from './attribution.ts'
import { hoursAt, type StoredHours } from './attribution-hours.ts'
import { figuresOf, itemsOf, type Source } from './conversion-of.ts'

type Order = Row<'orders'>
type Item = Row<'order_items'>

/**
 * Attributes orders that no message has yet, those whose message failed meanwhile, and brings the conversions of all
 * up to date. In the caller's transaction: the orders are locked until it ends.
 */
export async function attributeOrders(ctx: Context, orderIds: readonly string[]): Promise<void> {
  const orders = await ctx.db
    .selectFrom('orders')
    .selectAll()
    .where('id', 'in', orderIds)
    .orderBy('id')
    .forUpdate()
    .execute()
  if (orders.length === 0) return
  const ids = orders.map((order) => order.id)
  const known = await knownConversions(ctx, ids)
  const open = orders.filter((order) => known.get(order.id)?.isVoid !== false)
  const touches = await lastTouches(ctx, open)
  const items = await itemsByOrder(ctx, ids)

  const changes: ConversionChange[] = []
  const written: { row: NewRow<'conversions'>; items: ReturnType<typeof itemsOf> }[] = []
  const gone: string[] = []
  for (const order of orders) {
    const before = known.get(order.id) ?? null
    const source = before && !before.isVoid ? sourceOf(before.row) : touches.get(order.id)
    if (!source) {
      if (before) gone.push(before.row.id)
      continue
    }
    const figures = figuresOf(order, source, before?.row.status ?? null)
    const lines = itemsOf(order, items.get(order.id) ?? [])
    if (before && isSame(before, figures, lines)) continue
    const id = before?.row.id ?? ctx.newId()
    const now = ctx.now()
    written.push({ row: { ...figures, id, created_at: now, updated_at: now }, items: lines })
  }

  if (gone.length > 0) await ctx.db.deleteFrom('conversions').where('id', 'in', gone).execute()
  for (const before of known.values()) {
    if (gone.includes(before.row.id)) changes.push({ before: before.row, after: null })
  }
  for (const after of await write(ctx, written)) {
    const before = known.get(after.order_id)?.row ?? null
    if (before && before.touch_id !== after.touch_id) {
      changes.push({ before, after: null }, { before: null, after })
    } else changes.push({ before, after })
  }
  await tell(ctx, changes)
}

interface Known {
  row: ConversionRow
  items: Omit<Row<'conversion_items'>, 'store_id' | 'conversion_id'>[]
  /** Its message failed. */
  isVoid: boolean
}

async function knownConversions(ctx: Context, orderIds: string[]): Promise<Map<string, Known>> {
  const rows = await ctx.db
    .selectFrom('conversions as c')
    .leftJoin('attribution_touches as t', 't.id', 'c.touch_id')
    .selectAll('c')
    .select(sql<boolean>`t.voided_at is not null`.as('is_void'))
    .where('c.order_id', 'in', orderIds)
    .execute()
  const items =
    rows.length === 0
      ? []
      : await ctx.db
          .selectFrom('conversion_items')
          .selectAll()
          .where(
            'conversion_id',
            'in',
            rows.map((row) => row.id),
          )
          .orderBy('position')
          .execute()
  return new Map(
    rows.map(({ is_void: isVoid, ...row }) => [
      row.order_id,
      {
        row,
        isVoid,
        items: items
          .filter((item) => item.conversion_id === row.id)
          .map(({ store_id: _store, conversion_id: _conversion, ...item }) => item),
      },
    ]),
  )
}

async function itemsByOrder(ctx: Context, orderIds: string[]): Promise<Map<string, Item[]>> {
  const items = await ctx.db
    .selectFrom('order_items')
    .selectAll()
    .where('order_id', 'in', orderIds)
    .orderBy('position')
    .execute()
  return Map.groupBy(items, (item) => item.order_id)
}

/** The last touch of each order that has one. Holds the touches, so that none is voided before the conversion is written. */
async function lastTouches(ctx: Context, orders: readonly Order[]): Promise<Map<string, Source>> {
  const found = new Map<string, Source>()
  let open = orders
  while (open.length > 0) {
    const candidates = await candidatesOf(ctx, open)
    if (candidates.length === 0) break
    const held = await ctx.db
      .selectFrom('attribution_touches')
      .select('id')
      .where(
        'id',
        'in',
        candidates.map((each) => each.touch_id),
      )
      .where('voided_at', 'is', null)
      .orderBy('id')
      .forShare()
      .execute()
    const valid = new Set<string | null>(held.map((touch) => touch.id))
    const missed = new Set<string>()
    for (const { order_id: orderId, ...source } of candidates) {
      if (valid.has(source.touch_id)) found.set(orderId, source)
      else missed.add(orderId)
    }
    open = open.filter((order) => missed.has(order.id))
  }
  return found
}

async function candidatesOf(
  ctx: Context,
  orders: readonly Order[],
): Promise<(Source & { order_id: string; touch_id: string })[]> {
  const store = await ctx.db.selectFrom('stores').select('attribution').executeTakeFirstOrThrow()
  const stored = store.attribution as StoredHours
  const windows = orders.map((order) => {
    const hours = hoursAt(stored, order.placed_at)
    return {
      order_id: order.id,
      automation: hours.automationHours,
      campaign: hours.messagingCampaignHours,
      newsletter: hours.newsletterHours,
      stock: hours.stockNotificationHours,
    }
  })
  const given = sql<{ order_id: string }>`json_to_recordset(${JSON.stringify(windows)}::json)`.as<'w'>(
    sql`w(order_id text, automation int, campaign int, newsletter int, stock int)`,
  )
  return ctx.db
    .selectFrom('orders as o')
    .innerJoin(given, 'w.order_id', 'o.id')
    .innerJoin('attribution_touches as t', (join) =>
      join.on(sql<boolean>`(t.phone_key = o.phone_key or t.email = lower(o.customer_email)
        or upper(t.coupon_code) = any(upper(o.coupon_codes::text)::text[]) or t.click_token = o.click_token)`),
    )
    .where('t.voided_at', 'is', null)
    .where(sql<boolean>`t.touched_at <= o.placed_at`)
    .where(sql<boolean>`t.touched_at >= o.placed_at - interval '1 hour' * case t.source_type
      when 'automation' then w.automation when 'messaging-campaign' then w.campaign
      when 'newsletter' then w.newsletter else w.stock end`)
    .where((eb) =>
      eb.or([
        eb('t.product_id', 'is', null),
        eb.exists(
          eb
            .selectFrom('order_items as i')
            .select('i.id')
            .whereRef('i.order_id', '=', 'o.id')
            .whereRef('i.product_id', '=', 't.product_id'),
        ),
      ]),
    )
    .distinctOn('o.id')
    .orderBy('o.id')
    .orderBy('t.touched_at', 'desc')
    .orderBy(
      sql`array_position(array['automation', 'messaging-campaign', 'stock-notification', 'newsletter'], t.source_type)`,
    )
    .orderBy('t.id', 'desc')
    .select([
      'o.id as order_id',
      't.id as touch_id',
      't.source_type',
      't.source_id',
      't.source_name',
      't.automation_type',
      't.channel',
      't.message_id',
      't.touched_at',
      't.coupon_code',
    ])
    .execute()
}

const sourceOf = (row: ConversionRow): Source => ({
  touch_id: row.touch_id,
  source_type: row.source_type,
  source_id: row.source_id,
  source_name: row.source_name,
  automation_type: row.automation_type,
  channel: row.channel,
  message_id: row.message_id,
  touched_at: row.touched_at,
  coupon_code: row.coupon_code,
})

function isSame(
  before: Known,
  figures: ReturnType<typeof figuresOf>,
  items: ReturnType<typeof itemsOf>,
): boolean {
  const row: Record<string, unknown> = { ...before.row, customer: customerText(before.row.customer) }
  const next = { ...figures, customer: customerText(JSON.parse(figures.customer)) }
  const sameFigures = Object.entries(next).every(([column, value]) => text(row[column]) === text(value))
  const lines = (all: readonly (typeof items)[number][]) =>
    all.map((item) => lineColumns.map((column) => text(item[column])).join('\n')).join('\n\n')
  return sameFigures && lines(before.items) === lines(items)
}
const lineColumns = [
  'position',
  'product_id',
  'variant_id',
  'name',
  'sku',
  'image_url',
  'quantity',
  'unit_price',
  'total',
  'refunded_total',
] as const
const text = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))
/** jsonb does not keep the order of keys. */
const customerText = (customer: unknown): string =>
  JSON.stringify(Object.entries(customer as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1)))

async function write(
  ctx: Context,
  conversions: readonly { row: NewRow<'conversions'>; items: ReturnType<typeof itemsOf> }[],
): Promise<ConversionRow[]> {
  if (conversions.length === 0) return []
  const rows = await ctx.db
    .insertInto('conversions')
    .values(conversions.map((each) => each.row))
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'order_id']).doUpdateSet((eb) => ({
        order_number: eb.ref('excluded.order_number'),
        status: eb.ref('excluded.status'),
        source_type: eb.ref('excluded.source_type'),
        source_id: eb.ref('excluded.source_id'),
        source_name: eb.ref('excluded.source_name'),
        automation_type: eb.ref('excluded.automation_type'),
        channel: eb.ref('excluded.channel'),
        message_id: eb.ref('excluded.message_id'),
        touch_id: eb.ref('excluded.touch_id'),
        customer: eb.ref('excluded.customer'),
        currency: eb.ref('excluded.currency'),
        order_total: eb.ref('excluded.order_total'),
        refunded_total: eb.ref('excluded.refunded_total'),
        revenue: eb.ref('excluded.revenue'),
        coupon_code: eb.ref('excluded.coupon_code'),
        touched_at: eb.ref('excluded.touched_at'),
        placed_at: eb.ref('excluded.placed_at'),
        paid_at: eb.ref('excluded.paid_at'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returningAll()
    .execute()
  const ids = rows.map((row) => row.id)
  await ctx.db.deleteFrom('conversion_items').where('conversion_id', 'in', ids).execute()
  const items = conversions.flatMap(({ row, items: lines }) =>
    lines.map((line) => ({ ...line, conversion_id: row.id })),
  )
  for (let i = 0; i < items.length; i += itemsAtOnce) {
    await ctx.db
      .insertInto('conversion_items')
      .values(items.slice(i, i + itemsAtOnce))
      .execute()
  }
  return rows
}
/** A statement takes 65,535 parameters. */
const itemsAtOnce = 2000

async function tell(ctx: Context, changes: readonly ConversionChange[]): Promise<void> {
  const bySource = Map.groupBy(changes, ({ before, after }) => (after ?? before)!.source_type as SourceType)
  for (const [sourceType, ofSource] of bySource) {
    for (const listener of conversionListeners(sourceType)) await listener(ctx, ofSource)
  }
}
