/** Reads the metrics of stock alerts in one statement (rule 8). */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days, isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { roundToCents } from '#runtime/database/sql'
import { JsonText } from '#runtime/operation'

interface Values extends days.DayRange {
  timezone: string
  currency: string
}

const topCount = 10
const maxDays = 365

const findMetrics = prepared<Values, { text: string }>((db, values) => {
  const subscribed = db
    .selectFrom('stock_subscriptions as s')
    .select([
      sql<number>`count(*)::int`.as('n'),
      sql<number>`(count(*) filter (where s.channel = 'email'))::int`.as('emails'),
    ])
    .where(days.isWithin('s.created_at', values))
    .as('subscribed')
  const sent = db
    .selectFrom('stock_subscriptions as s')
    .select([
      sql<number>`count(*)::int`.as('n'),
      sql<number>`(count(*) filter (where s.channel = 'email'))::int`.as('emails'),
      sql<number>`count(s.converted_at)::int`.as('converted'),
    ])
    .where('s.sent_at', 'is not', null)
    .where(days.isWithin('s.sent_at', values))
    .as('sent')
  const inCurrency = sql`filter (where c.currency = ${values.currency}::text)`
  const brought = db
    .selectFrom('conversions as c')
    .select([
      sql<number>`count(*)::int`.as('n'),
      roundToCents(sql`coalesce(sum(c.revenue) ${inCurrency}, 0)`).as('revenue'),
    ])
    .where('c.source_type', '=', sql.lit('stock-notification'))
    .where(isCountedConversion('c'))
    .where(days.isWithin('c.placed_at', values))
    .as('brought')
  const json = jsonObject({
    startDate: sql`${values.startDate}::text`,
    endDate: sql`${values.endDate}::text`,
    subscribers: 'subscribed.n',
    waiting: sql`(${countWaiting(db)})`,
    alertsSent: 'sent.n',
    failed: sql`(${countFailed(db, values)})`,
    conversions: 'brought.n',
    conversionRate: sql`round(sent.converted * 100.0 / nullif(sent.n, 0), 1)`,
    revenue: 'brought.revenue',
    currency: sql`${values.currency}::text`,
    byChannel: jsonObject({
      email: channelJson(sql`subscribed.emails`, sql`sent.emails`),
      phone: channelJson(sql`subscribed.n - subscribed.emails`, sql`sent.n - sent.emails`),
    }),
    topProducts: sql`(${topProducts(db)})`,
  })
  return db
    .selectFrom(subscribed)
    .innerJoin(sent, (join) => join.onTrue())
    .innerJoin(brought, (join) => join.onTrue())
    .select(sql<string>`${json}::text`.as('text'))
})

const channelJson = (subscribers: RawBuilder<unknown>, alertsSent: RawBuilder<unknown>) =>
  jsonObject({ subscribers, alertsSent })

const countWaiting = (db: Kysely<TenantTables>) =>
  db
    .selectFrom('stock_subscriptions as s')
    .select(sql<number>`count(*)::int`.as('n'))
    .where('s.status', '=', sql.lit('waiting'))
    .where('s.deleted_at', 'is', null)

const countFailed = (db: Kysely<TenantTables>, values: Values) =>
  db
    .selectFrom('stock_subscriptions as s')
    .select(sql<number>`count(*)::int`.as('n'))
    .where('s.status', '=', sql.lit('failed'))
    .where(days.isWithin('s.failed_at', values))

/**
 * The variants with the most waiting subscriptions. Groups by variant only, to use the index; names are those of the
 * latest subscription.
 */
function topProducts(db: Kysely<TenantTables>) {
  const most = db
    .selectFrom('stock_subscriptions as s')
    .select(['s.variant_id', sql<number>`count(*)::int`.as('waiting')])
    .where('s.status', '=', sql.lit('waiting'))
    .where('s.deleted_at', 'is', null)
    .groupBy('s.variant_id')
    .orderBy('waiting', 'desc')
    .orderBy('s.variant_id')
    .limit(sql<number>`${sql.lit(topCount)}`)
  const named = db
    .selectFrom('stock_subscriptions as n')
    .select(['n.product_id', 'n.product_name', 'n.variant_name'])
    .where(sql<boolean>`n.variant_id = most.variant_id`)
    .where('n.status', '=', sql.lit('waiting'))
    .where('n.deleted_at', 'is', null)
    .orderBy('n.created_at', 'desc')
    .orderBy('n.id', 'desc')
    .limit(sql<number>`1`)
  const entry = jsonObject({
    productId: 'named.product_id',
    variantId: 'most.variant_id',
    productName: 'named.product_name',
    variantName: 'named.variant_name',
    waiting: 'most.waiting',
  })
  return db
    .selectFrom(most.as('most'))
    .innerJoinLateral(named.as('named'), (join) => join.onTrue())
    .select(
      sql<unknown>`coalesce(json_agg(${entry} order by most.waiting desc, most.variant_id), '[]')`.as('json'),
    )
}

/**
 * Reads the metrics of a period, by default the last 30 days. Refuses an end before the start, and more than 365 days.
 */
export async function readMetrics(
  ctx: Context,
  query: { startDate?: string | undefined; endDate?: string | undefined },
): Promise<JsonText> {
  const { timezone, currency } = ctx.store
  const [row] = await findMetrics(ctx, { ...days.parseDayRange(ctx, query, maxDays), timezone, currency })
  return new JsonText(row!.text)
}
