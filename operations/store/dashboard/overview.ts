/** Builds the home overview, which compares a period with the previous period. */

import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import { hundredths, toPercent } from '#runtime/values/money'
import { featureSet, planIdAt } from '../plans.ts'
import { sourceTypes } from '../sums/revenue-rules.ts'
import { pendingTypes } from './home-parts.ts'
import { type Granularity, type OverviewFacts, overviewFacts } from './overview-facts.ts'
import { overviewNow } from './overview-now.ts'
import type { dashboardOverview, periods } from './schema.ts'

const { toCents, toNumber } = hundredths

type Overview = z.input<typeof dashboardOverview>

const shapes: Record<(typeof periods)[number], { granularity: Granularity; buckets: number }> = {
  '24h': { granularity: 'hour', buckets: 24 },
  '7d': { granularity: 'day', buckets: 7 },
  '30d': { granularity: 'day', buckets: 30 },
  '90d': { granularity: 'day', buckets: 90 },
}

/** Compares a period up to now with the previous period. Parts of features that are not in the plan are 0 or empty. */
export async function readOverview(ctx: Context, period: (typeof periods)[number]): Promise<Overview> {
  const { granularity, buckets } = shapes[period]
  const { timezone, currency } = ctx.store
  const { pending, recentReviews, stockRequests } = ctx.extensions
  const [current] = await overviewNow(ctx, { userId: ctx.actor.userId!, now: ctx.now() })
  const read =
    granularity === 'day' && current!.areSumsBuilt ? overviewFacts.summedDay : overviewFacts[granularity]
  const [facts] = await read(ctx, { now: ctx.now().toISOString(), timezone, currency, buckets })
  const { access } = ctx.actor
  const features = featureSet(access ? planIdAt(access.subscription, ctx.clock.ms()) : '')
  const has = (feature: string | null): boolean => feature === null || features.has(feature)
  const { startAt, endAt, previousStartAt, previousEndAt } = facts!
  return {
    period,
    granularity,
    timezone,
    currency,
    startAt,
    endAt,
    previousStartAt,
    previousEndAt,
    metrics: buildMetrics(facts!, has(stockRequests?.feature ?? null)),
    revenueByChannel: buildChannels(facts!),
    pendingItems: pendingTypes.map((type, index) => ({
      type,
      count: has(pending[type]?.feature ?? null) ? current!.pending[index]! : 0,
    })),
    latestSales: current!.latestSales,
    recentReviews: has(recentReviews?.feature ?? null) ? current!.recentReviews : [],
  }
}

type BySlot = Map<number, bigint>

function buildMetrics(facts: OverviewFacts, hasStockAlerts: boolean): Overview['metrics'] {
  const { conversions, messages, touches, subscribers, stockRequests: requests } = facts
  const revenue = bySlot(conversions, (row) => toCents(row.revenue))
  const number = (units: bigint): number => Number(units)
  const n = (row: { n: number }): bigint => BigInt(row.n)
  return {
    recoveredRevenue: buildMetric(facts, revenue, toNumber),
    messagesSent: buildMetric(facts, bySlot(messages, n), number),
    conversionRate: buildRateMetric(
      facts,
      bySlot(touches, (row) => BigInt(row.converted)),
      bySlot(touches, n),
    ),
    cartsRecovered: buildMetric(
      facts,
      bySlot(conversions, (row) => BigInt(row.carts)),
      number,
    ),
    newSubscribers: buildMetric(facts, bySlot(subscribers, n), number),
    stockAlertRequests: buildMetric(facts, bySlot(hasStockAlerts ? requests : [], n), number),
  }
}

function bySlot<R extends { slot: number }>(rows: readonly R[], units: (row: R) => bigint): BySlot {
  const slots: BySlot = new Map()
  for (const row of rows) slots.set(row.slot, (slots.get(row.slot) ?? 0n) + units(row))
  return slots
}

/** Sums the slots of the period, or of the previous period. */
function sumPeriod(slots: BySlot, buckets: number, isPrevious: boolean): bigint {
  let sum = 0n
  for (const [slot, units] of slots) if (slot <= -buckets === isPrevious) sum += units
  return sum
}

/** Pairs each slot of the period with the same slot of the previous period. */
const pairSlots = ({ slots }: OverviewFacts) =>
  slots.map((at, index) => {
    const slot = index + 1 - slots.length
    return { at, slot, previous: slot - slots.length, isPartial: slot === 0 }
  })

function buildMetric(
  facts: OverviewFacts,
  slots: BySlot,
  show: (units: bigint) => number,
): Overview['metrics']['recoveredRevenue'] {
  const value = sumPeriod(slots, facts.slots.length, false)
  const before = sumPeriod(slots, facts.slots.length, true)
  return {
    value: show(value),
    previousValue: show(before),
    changePercent: toPercent(value - before, before, 1),
    series: pairSlots(facts).map(({ at, slot, previous, isPartial }) => ({
      at,
      value: show(slots.get(slot) ?? 0n),
      previousValue: show(slots.get(previous) ?? 0n),
      isPartial,
    })),
  }
}

function buildRateMetric(
  facts: OverviewFacts,
  parts: BySlot,
  wholes: BySlot,
): Overview['metrics']['conversionRate'] {
  const buckets = facts.slots.length
  const rate = (isPrevious: boolean): number | null =>
    toPercent(sumPeriod(parts, buckets, isPrevious), sumPeriod(wholes, buckets, isPrevious), 2)
  const at = (slot: number): number | null => toPercent(parts.get(slot) ?? 0n, wholes.get(slot) ?? 0n, 2)
  const value = rate(false)
  const before = rate(true)
  return {
    value,
    previousValue: before,
    changePercent: value === null || before === null ? null : computeChange(value, before),
    series: pairSlots(facts).map(({ at: first, slot, previous, isPartial }) => ({
      at: first,
      value: at(slot),
      previousValue: at(previous),
      isPartial,
    })),
  }
}

/** The change in percent. Both values have at most two decimals. */
function computeChange(value: number, before: number): number | null {
  const [one, other] = [toCents(value), toCents(before)]
  return toPercent(one - other, other, 1)
}

function buildChannels(facts: OverviewFacts): Overview['revenueByChannel'] {
  const buckets = facts.slots.length
  const sums = (rows: readonly { slot: number; orders: number; revenue: string }[]) => {
    const revenue = bySlot(rows, (row) => toCents(row.revenue))
    return {
      orders: sumPeriod(
        bySlot(rows, (row) => BigInt(row.orders)),
        buckets,
        false,
      ),
      revenue: sumPeriod(revenue, buckets, false),
      previousRevenue: sumPeriod(revenue, buckets, true),
    }
  }
  const recovered = sums(facts.conversions)
  const total = sums(facts.orders)
  const bySource = sourceTypes.map((channel) => ({
    channel,
    ...sums(facts.conversions.filter((row) => row.channel === channel)),
  }))
  const direct = {
    channel: 'direct' as const,
    orders: total.orders - recovered.orders,
    revenue: total.revenue - recovered.revenue,
    previousRevenue: total.previousRevenue - recovered.previousRevenue,
  }
  return [...bySource, direct].map(({ channel, orders, revenue, previousRevenue }) => ({
    channel,
    orders: Number(orders),
    revenue: toNumber(revenue),
    previousRevenue: toNumber(previousRevenue),
  }))
}
