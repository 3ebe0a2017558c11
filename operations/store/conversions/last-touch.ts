/** Finds the last touch before an order, to which the order is attributed (rule 3). */
import { type RawBuilder, sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { isAmong, recordset } from '#runtime/database/recordset'
import { emailKeySql } from '#runtime/values/email'
import { findHoursAt, type StoredHours } from './attribution-hours.ts'
import type { Source } from './conversion-columns.ts'

type Order = Row<'orders'>
type Candidate = Source & { order_id: string; touch_id: string }

/**
 * The last touch of each order, by order id; orders without a touch are missing. Locks the touches until the transaction
 * ends, so that no touch is voided before its conversion is committed. Also locks the touches `others`, whose counts will
 * change. All touches are locked in the order of their ids, which prevents deadlocks.
 */
export async function findLastTouches(
  ctx: Context,
  orders: readonly Order[],
  others: readonly string[],
): Promise<Map<string, Source>> {
  const found = new Map<string, Source>()
  let open = orders
  let alsoLocked = others
  while (open.length > 0 || alsoLocked.length > 0) {
    const candidates = open.length === 0 ? [] : await findCandidates(ctx, open)
    const touchIds = [...candidates.map((each) => each.touch_id), ...alsoLocked]
    if (touchIds.length === 0) break
    const locked = await ctx.db
      .selectFrom('attribution_touches')
      .select(['id', 'voided_at'])
      .where(isAmong('id', touchIds, 'uuid'))
      .orderBy('id')
      .forNoKeyUpdate()
      .execute()
    alsoLocked = []
    const valid = new Set(locked.filter((touch) => touch.voided_at === null).map((touch) => touch.id))
    const missed = new Set<string>()
    for (const { order_id: orderId, ...source } of candidates) {
      if (valid.has(source.touch_id)) found.set(orderId, source)
      else missed.add(orderId)
    }
    open = open.filter((order) => missed.has(order.id))
  }
  return found
}

const windowTypes = {
  order_id: 'text',
  automation: 'integer',
  campaign: 'integer',
  newsletter: 'integer',
  stock: 'integer',
} as const

async function findCandidates(ctx: Context, orders: readonly Order[]): Promise<Candidate[]> {
  const store = await ctx.db.selectFrom('stores').select('attribution').executeTakeFirstOrThrow()
  const windows = orders.map((order) => {
    const hours = findHoursAt(store.attribution as StoredHours, order.placed_at)
    return {
      order_id: order.id,
      automation: hours.automationHours,
      campaign: hours.messagingCampaignHours,
      newsletter: hours.newsletterHours,
      stock: hours.stockNotificationHours,
    }
  })
  const ids = orders.map((order) => order.id)
  return ctx.db
    .selectFrom('orders as o')
    .innerJoin(recordset(windowTypes, windows), 'r.order_id', 'o.id')
    .innerJoinLateral(
      (eb) => {
        const touches = (isOf: RawBuilder<boolean>) =>
          eb
            .selectFrom('attribution_touches as m')
            .selectAll('m')
            .where('m.voided_at', 'is', null)
            .where(sql<boolean>`m.touched_at <= o.placed_at`)
            .where(sql<boolean>`m.touched_at >= o.placed_at - interval '1 hour' * case m.source_type
              when 'automation' then r.automation when 'messaging-campaign' then r.campaign
              when 'newsletter' then r.newsletter else r.stock end`)
            .where(isOf)
        // Four subqueries, so that each uses its own index. With one combined condition the planner scans all touches
        // of a small store for every order.
        return (
          touches(sql`m.phone_key = o.phone_key`)
            // biome-ignore lint/plugin/contact-spelling: attribution_touches holds keys
            .unionAll(touches(sql`m.email = ${emailKeySql('o.customer_email')}`))
            .unionAll(
              // Joins the unnested codes, because for `any(array)` of unknown length PostgreSQL estimates ten elements.
              touches(sql`true`).innerJoin(
                sql<{ code: string }>`unnest(o.coupon_codes)`.as<'c'>(sql`c(code)`),
                (join) => join.on(sql<boolean>`upper(m.coupon_code) = upper(c.code)`),
              ),
            )
            .unionAll(touches(sql`m.click_token = o.click_token`))
            .as('t')
        )
      },
      (join) => join.onTrue(),
    )
    .where(isAmong('o.id', ids))
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
