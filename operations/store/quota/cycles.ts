/** Message cycles (rule 8): each is a month long, counted from the subscription's anchor. A trial is one cycle. */

import type { Context, TenantDb } from '#runtime/context'
import { getPlan, planIdAt } from '../plans.ts'
import { addPeriod, periodAt } from './periods.ts'

/**
 * The start of the cycle at `now`. If two cycles overlap, it is the one that started later, for example the cycle of a plan
 * that started during the trial.
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
  /** Since when messages are counted: earlier than `startsAt` if the cycle replaced a cycle that had not ended. */
  countsFrom: Date
  limit: number
  used: number
  reserved: number
}

/**
 * The current cycle, or the cycle that would be opened now. If there is no current cycle, for example after a trial, the
 * limit is 0.
 */
export async function readCurrentCycle(ctx: Context): Promise<Cycle> {
  const cycles = ctx.db
    .selectFrom('usage_cycles')
    .select(['starts_at', 'ends_at', 'counts_from', 'message_limit', 'used', 'reserved'])
  const row = await cycles.where('starts_at', '=', currentCycle(ctx.db, ctx.now())).executeTakeFirst()
  if (row) {
    const { starts_at: startsAt, ends_at: endsAt, message_limit: limit, used, reserved } = row
    return { startsAt, endsAt, countsFrom: row.counts_from ?? startsAt, limit, used, reserved }
  }
  const due = await computeCycle(ctx)
  const { startsAt } = due
  if (due.endsAt > ctx.now()) return { ...due, countsFrom: startsAt, used: 0, reserved: 0 }
  // Shows the use of the cycle that has ended. Nothing is reserved any more.
  const over = await cycles.where('starts_at', '=', startsAt).executeTakeFirst()
  return { ...due, countsFrom: startsAt, limit: 0, used: over?.used ?? 0, reserved: 0 }
}

/** Creates the current cycle if it is missing. Returns false if there is no current cycle, for example after a trial. */
export async function openCycle(ctx: Context): Promise<boolean> {
  const now = ctx.now()
  const { startsAt, endsAt, limit } = await computeCycle(ctx)
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

async function computeCycle(ctx: Context): Promise<Pick<Cycle, 'startsAt' | 'endsAt' | 'limit'>> {
  const subscription = await ctx.db
    .selectFrom('subscriptions')
    .select(['plan_id', 'scheduled_change', 'anchor_at', 'trial_ends_at'])
    .executeTakeFirstOrThrow()
  const { id, messagesPerCycle: limit } = getPlan(planIdAt(subscription, ctx.clock.ms()))
  if (id === 'trial') {
    const startsAt = subscription.anchor_at
    return { startsAt, endsAt: subscription.trial_ends_at ?? startsAt, limit }
  }
  const { start, end } = periodAt(subscription.anchor_at, ctx.now())
  return { startsAt: start, endsAt: end, limit }
}

/**
 * Starts a cycle with a payment. `takesOver`: moves the use and reservations of the running cycle to the new cycle, so that
 * starting again gives no messages back. A cycle that has ended keeps its counts.
 */
export async function beginCycle(
  tx: Context,
  startsAt: Date,
  limit: number,
  { takesOver }: { takesOver: boolean },
): Promise<void> {
  const now = tx.now()
  const cycle = { ends_at: addPeriod(startsAt, 1), message_limit: limit, updated_at: now }
  const closed = takesOver ? await closeCycle(tx, startsAt) : null
  await tx.db
    .insertInto('usage_cycles')
    .values({ starts_at: startsAt, ...cycle, ...closed?.counted, created_at: now })
    .onConflict((conflict) => conflict.columns(['store_id', 'starts_at']).doUpdateSet(cycle))
    .execute()
  if (!closed) return
  await tx.db
    .updateTable('usage_reservations')
    .set({ cycle_starts_at: startsAt, updated_at: now })
    .where('cycle_starts_at', '=', closed.startsAt)
    .execute()
}

/** Closes the cycle running at an instant and returns its counts. */
async function closeCycle(tx: Context, at: Date) {
  // Locks the reservations before the cycle, in the same order as `metering.ts`, which prevents deadlocks.
  const found = await tx.db
    .selectFrom('usage_cycles')
    .select('starts_at')
    .where('starts_at', '=', currentCycle(tx.db, at))
    .where('starts_at', '<', at)
    .executeTakeFirst()
  if (!found) return null
  const { starts_at: startsAt } = found
  await tx.db
    .selectFrom('usage_reservations')
    .select('id')
    .where('cycle_starts_at', '=', startsAt)
    .where('units', '>', 0)
    .orderBy('id')
    .forUpdate()
    .execute()
  const {
    used,
    reserved,
    counts_from: from,
  } = await tx.db
    .selectFrom('usage_cycles')
    .select(['used', 'reserved', 'counts_from'])
    .where('starts_at', '=', startsAt)
    .forUpdate()
    .executeTakeFirstOrThrow()
  await tx.db
    .updateTable('usage_cycles')
    .set({ reserved: 0, message_limit: used, updated_at: tx.now() })
    .where('starts_at', '=', startsAt)
    .execute()
  return { startsAt, counted: { used, reserved, counts_from: from ?? startsAt } }
}

/** Sets the message limit of the current cycle after a change of plan. */
export async function changeLimit(tx: Context, limit: number): Promise<void> {
  const now = tx.now()
  await tx.db
    .updateTable('usage_cycles')
    .set({ message_limit: limit, updated_at: now })
    .where('starts_at', '=', currentCycle(tx.db, now))
    .execute()
}
