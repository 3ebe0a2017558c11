/** Computes contacts' tiers from their purchases (rule 8). */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { recordedColumns, recordset } from '#runtime/database/recordset'
import { roundToCents } from '#runtime/database/sql'
import { lockConversations } from '../conversations/conversations.ts'

export interface Tier {
  key: string
  name: string
  color: string
  minPurchases: number | null
  minAmount: number | null
}

export interface TierSettings {
  isEnabled: boolean
  match: 'any' | 'all'
  /** How many days back purchases count; null for all purchases. */
  periodDays: number | null
  /** The tiers, lowest first. */
  tiers: Tier[]
}

export const defaultTierSettings: TierSettings = {
  isEnabled: true,
  match: 'any',
  periodDays: 365,
  tiers: [
    { key: 'bronze', name: 'Bronze', color: '#b45309', minPurchases: 1, minAmount: null },
    { key: 'silver', name: 'Silver', color: '#6b7280', minPurchases: 3, minAmount: 500 },
    { key: 'gold', name: 'Gold', color: '#ca8a04', minPurchases: 6, minAmount: 1500 },
    { key: 'platinum', name: 'Platinum', color: '#0e7490', minPurchases: 12, minAmount: 5000 },
  ],
}

/** The key of the highest tier whose thresholds are met; null if there is none, or while tiers are off. */
function findTier(settings: TierSettings, bought: { purchases: number; amount: number }): string | null {
  if (!settings.isEnabled) return null
  const holds = ({ minPurchases, minAmount }: Tier): boolean => {
    const met = [
      ...(minPurchases === null ? [] : [bought.purchases >= minPurchases]),
      ...(minAmount === null ? [] : [bought.amount >= minAmount]),
    ]
    return settings.match === 'all' ? met.every(Boolean) : met.some(Boolean)
  }
  return settings.tiers.findLast(holds)?.key ?? null
}

/**
 * Checks that from each tier to the next no threshold decreases and at least one increases. Returns an error message for
 * the first tier that violates this, or null.
 */
export function findTierOrderIssue(tiers: readonly Tier[]): string | null {
  for (const [i, tier] of tiers.entries()) {
    if (tier.minPurchases === null && tier.minAmount === null) {
      return `tiers.${i}: needs minPurchases or minAmount`
    }
    const before = tiers[i - 1]
    if (!before) continue
    const steps = (['minPurchases', 'minAmount'] as const).flatMap((field) => {
      const [from, to] = [before[field], tier[field]]
      return from === null || to === null ? [] : [{ field, difference: to - from }]
    })
    const falling = steps.find((step) => step.difference < 0)
    if (falling) return `tiers.${i}.${falling.field}: must not be lower than that of the tier before`
    if (steps.length > 0 && !steps.some((step) => step.difference > 0)) {
      return `tiers.${i}: must ask for more than the tier before`
    }
  }
  return null
}

interface PurchaseTotals {
  id: string
  tier: string | null
  tier_source: string
  purchase_count: number
  total_spent: string
  last_purchase_at: Date | null
  purchases: number
  amount: string
  latest: Date | null
}

/** Recalculates the tiers of these contacts from their orders. Returns how many changed. */
export async function recalculate(
  ctx: Context,
  settings: TierSettings,
  contactIds: readonly string[],
): Promise<number> {
  if (contactIds.length === 0) return 0
  // Locks the contacts, so that a tier that a member sets meanwhile is not overwritten.
  await ctx.db
    .selectFrom('contacts')
    .select('id')
    .where(sql<boolean>`id = any(${[...contactIds]}::uuid[])`)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const rows = await sumPurchases(ctx, settings, contactIds)
  const changed = rows.flatMap((row) => {
    const automatic = findTier(settings, { purchases: row.purchases, amount: Number(row.amount) })
    const tier = row.tier_source === 'manual' ? row.tier : automatic
    const isSame =
      tier === row.tier &&
      row.purchases === row.purchase_count &&
      Number(row.amount) === Number(row.total_spent) &&
      row.latest?.getTime() === row.last_purchase_at?.getTime()
    return isSame
      ? []
      : [
          {
            id: row.id,
            tier,
            purchase_count: row.purchases,
            total_spent: row.amount,
            last_purchase_at: row.latest,
          },
        ]
  })
  if (changed.length === 0) return 0
  await ctx.db
    .updateTable('contacts')
    .from(recordset(boughtTypes, changed))
    .set({ ...recordedColumns(boughtTypes, ['id']), updated_at: ctx.now() })
    .where(sql<boolean>`contacts.id = r.id`)
    .execute()
  await copyTiersToConversations(
    ctx,
    changed.map((each) => each.id),
  )
  return changed.length
}

const boughtTypes = {
  id: 'uuid',
  tier: 'text',
  purchase_count: 'integer',
  total_spent: 'numeric',
  last_purchase_at: 'timestamptz',
} as const

/**
 * Copies the contacts' tiers to their conversations, because the list of conversations filters by tier. Also sets
 * `updated_at`.
 */
export async function copyTiersToConversations(ctx: Context, contactIds: readonly string[]): Promise<void> {
  const ofThem = sql<boolean>`contact_id = any(${[...contactIds]}::uuid[])`
  await lockConversations(ctx, ofThem)
  await ctx.db
    .updateTable('conversations')
    .set({
      tier: sql<string>`(${ctx.db
        .selectFrom('contacts as k')
        .select('k.tier')
        .where('k.id', '=', sql.ref<string>('conversations.contact_id'))})`,
      updated_at: ctx.now(),
    })
    .where(ofThem)
    .execute()
}

/** Sums the orders of each contact: those with the contact's phone, and all orders of the customer of the newest one. */
function sumPurchases(
  ctx: Context,
  settings: TierSettings,
  ids: readonly string[],
): Promise<PurchaseTotals[]> {
  const day = sql`(o.placed_at at time zone ${ctx.store.timezone})::date`
  const today = sql`(${ctx.now()}::timestamptz at time zone ${ctx.store.timezone})::date`
  const counted = sql<boolean>`o.payment_status in ('paid', 'partially-refunded') and o.status <> 'cancelled'
    and ${settings.periodDays === null ? sql`true` : sql`${day} > ${today} - ${settings.periodDays}::int`}`
  const columns = ['o.id', 'o.total', 'o.refunded_total', 'o.currency', 'o.placed_at'] as const
  return ctx.db
    .selectFrom('contacts as k')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('orders as n')
          .select('n.customer_id')
          .whereRef('n.phone_key', '=', 'k.phone_key')
          .where('n.customer_id', 'is not', null)
          .orderBy('n.placed_at', 'desc')
          .limit(1)
          .as('matched'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('orders as o')
          .select(columns)
          .whereRef('o.phone_key', '=', 'k.phone_key')
          .where(counted)
          .union(
            eb
              .selectFrom('orders as o')
              .select(columns)
              .whereRef('o.customer_id', '=', 'matched.customer_id')
              .where(counted),
          )
          .as('b'),
      (join) => join.onTrue(),
    )
    .select([
      'k.id',
      'k.tier',
      'k.tier_source',
      'k.purchase_count',
      'k.total_spent',
      'k.last_purchase_at',
      sql<number>`count(b.id)::int`.as('purchases'),
      roundToCents(sql`coalesce(sum(b.total - b.refunded_total)
        filter (where b.currency = ${ctx.store.currency}), 0)`).as('amount'),
      sql<Date | null>`max(b.placed_at)`.as('latest'),
    ])
    .where(sql<boolean>`k.id = any(${[...ids]}::uuid[])`)
    .groupBy(['k.store_id', 'k.id'])
    .execute() as Promise<PurchaseTotals[]>
}
