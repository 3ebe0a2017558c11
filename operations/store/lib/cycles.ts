/** Message cycles: a month each from the subscription's anchor; a trial is one cycle (Rules 8). */
import { planIdAt, planOf } from '#db/plans'
import type { Context, TenantDb } from '#runtime/context'
import { addPeriod, periodAt } from './periods.ts'

/**
 * The start of the cycle that holds at `now`; of two that overlap, the later one: a plan that began ends the
 * trial's.
 */
export const currentCycle = (db: Pick<TenantDb, 'selectFrom'>, now: Date) =>
  db
    .selectFrom('usage_cycles as current')
    .select((eb) => eb.fn.max('current.starts_at').as('starts_at'))
    .where('current.starts_at', '<=', now)
    .where('current.ends_at', '>', now)

export interface Cycle {
  startsAt: Date
  endsAt: Date
  limit: number
  used: number
  reserved: number
}

/**
 * The cycle that holds now, as it is or as it would be opened; without messages when none holds, as after a
 * trial.
 */
export async function cycleNow(ctx: Context): Promise<Cycle> {
  const row = await ctx.db
    .selectFrom('usage_cycles')
    .select(['starts_at', 'ends_at', 'message_limit', 'used', 'reserved'])
    .where('starts_at', '=', currentCycle(ctx.db, ctx.now()))
    .executeTakeFirst()
  if (row) {
    const { starts_at: startsAt, ends_at: endsAt, message_limit: limit, used, reserved } = row
    return { startsAt, endsAt, limit, used, reserved }
  }
  const due = await cycleDue(ctx)
  return { ...due, limit: due.endsAt > ctx.now() ? due.limit : 0, used: 0, reserved: 0 }
}

/** Makes the cycle that holds now where it is missing; false when none holds, as after a trial. */
export async function openCycle(ctx: Context): Promise<boolean> {
  const now = ctx.now()
  const { startsAt, endsAt, limit } = await cycleDue(ctx)
  if (endsAt <= now) return false
  await ctx.db
    .insertInto('usage_cycles')
    .values({
      starts_at: startsAt,
      ends_at: endsAt,
      message_limit: limit,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['store_id', 'starts_at']).doNothing())
    .execute()
  return true
}

async function cycleDue(ctx: Context): Promise<Pick<Cycle, 'startsAt' | 'endsAt' | 'limit'>> {
  const subscription = await ctx.db
    .selectFrom('subscriptions')
    .select(['plan_id', 'scheduled_change', 'anchor_at', 'trial_ends_at'])
    .executeTakeFirstOrThrow()
  const { id, messagesPerCycle: limit } = planOf(planIdAt(subscription, ctx.clock.ms()))
  if (id === 'trial') {
    const startsAt = subscription.anchor_at
    return { startsAt, endsAt: subscription.trial_ends_at ?? startsAt, limit }
  }
  const { start, end } = periodAt(subscription.anchor_at, ctx.now())
  return { startsAt: start, endsAt: end, limit }
}

/** A cycle that begins with a payment; what was counted before stays with the cycle it was counted in. */
export async function beginCycle(tx: Context, startsAt: Date, limit: number): Promise<void> {
  const now = tx.now()
  const cycle = { ends_at: addPeriod(startsAt, 1), message_limit: limit, updated_at: now }
  await tx.db
    .insertInto('usage_cycles')
    .values({ starts_at: startsAt, ...cycle, created_at: now })
    .onConflict((conflict) => conflict.columns(['store_id', 'starts_at']).doUpdateSet(cycle))
    .execute()
}

/** Another plan's messages in the cycle that holds now. */
export async function changeLimit(tx: Context, limit: number): Promise<void> {
  const now = tx.now()
  await tx.db
    .updateTable('usage_cycles')
    .set({ message_limit: limit, updated_at: now })
    .where('starts_at', '=', currentCycle(tx.db, now))
    .execute()
}
