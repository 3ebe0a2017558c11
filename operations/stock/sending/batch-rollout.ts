/** Rolls alerts out in batches when a variant is back in stock, oldest subscription first (rules 2 and 3). */

import { sql } from 'kysely'
import { mayUse } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { getCapacity, readLiveVariant } from '../facts.ts'
import { stockAlertWave } from '../handles.ts'
import type { AlertContent } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import { claimNext } from './claims.ts'
import { findSendContext, type SendContext } from './send-context.ts'

/** Time between the end of a variant's rollout and the start of the next. */
const rolloutIntervalMs = 60 * minuteMs
/**
 * Maximum number of a variant's alerts that are being sent at once. If the merchant turns alerts off, all others are
 * not sent.
 */
const maxInFlight = 400

interface RolloutRow {
  is_open: boolean
  /** How many more people the rollout may notify; null for no limit. */
  places: number | null
  started_at: Date | null
  ended_at: Date | null
}

/**
 * Queues the rollout of a variant for now or for `at`. At most one job for now and one for later are queued per
 * variant.
 */
export const queueRollout = (ctx: Context, variantId: string, at: Date | null = null) =>
  ctx.queue(stockAlertWave, { variantId, isNext: at !== null }, at ? { at } : {})

/**
 * Starts or continues the rollout of a variant: claims subscriptions and queues their alerts, until the capacity is used
 * up or 400 alerts are being sent. Subscriptions that are not claimed keep their position. Throws if the platform does
 * not respond.
 */
export async function runRollout(ctx: Context, variantId: string, signal: AbortSignal): Promise<void> {
  const settings = await readAlerts(ctx)
  if (!settings.isEnabled || !(await mayUse(ctx, 'stock-alerts'))) return
  const { rollout, productId } = await readRollout(ctx, variantId)
  if (productId === null) return closeRollout(ctx, variantId)
  const nextStart = await findNextStart(ctx, variantId, rollout)
  if (nextStart) {
    await queueRollout(ctx, variantId, nextStart)
    return
  }
  const live = await readLiveVariant(ctx, productId, variantId)
  if (live === null) return
  if (live === 'gone') return cancelGone(ctx, variantId)
  const capacity = getCapacity(live, settings.ignoreStockThreshold)
  if (capacity === 0) return closeRollout(ctx, variantId)
  const found = await findSendContext(ctx, settings)
  let sendContext: SendContext | null = typeof found === 'string' ? null : found
  while (!signal.aborted) {
    const step = await ctx.transaction((tx) => claimBatch(tx, variantId, settings, sendContext, capacity))
    if (step === 'no-quota') sendContext = null
    else if (step !== 'more') return
  }
  await queueRollout(ctx, variantId)
}

/** Reads the rollout's row, and the product id; the product id is null if no subscriptions are waiting. */
async function readRollout(
  ctx: Context,
  variantId: string,
): Promise<{ rollout: RolloutRow | undefined; productId: string | null }> {
  const rollout = await ctx.db
    .selectFrom('stock_waves')
    .select(['is_open', 'places', 'started_at', 'ended_at'])
    .where('variant_id', '=', variantId)
    .executeTakeFirst()
  const waiting = await ctx.db
    .selectFrom('stock_subscriptions')
    .select('product_id')
    .where('variant_id', '=', variantId)
    .where('status', '=', sql.lit('waiting'))
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { rollout, productId: waiting?.product_id ?? null }
}

/** When the next rollout may start; null for now. It may start at once if the previous rollout notified nobody. */
async function findNextStart(
  ctx: Context,
  variantId: string,
  rollout: RolloutRow | undefined,
): Promise<Date | null> {
  // An end in the future was written by a clock that was ahead, and is ignored.
  if (!rollout || rollout.is_open || rollout.ended_at === null || rollout.ended_at > ctx.now()) return null
  const at = new Date(rollout.ended_at.getTime() + rolloutIntervalMs)
  return at > ctx.now() && (await hasNotified(ctx, variantId, rollout.started_at)) ? at : null
}

/** Whether an alert of the variant was sent since the rollout started, or is being sent. */
async function hasNotified(ctx: Context, variantId: string, since: Date | null): Promise<boolean> {
  const notified = await ctx.db
    .selectFrom('stock_subscriptions')
    .select('id')
    .where('variant_id', '=', variantId)
    .where((eb) =>
      eb.or([eb('status', '=', sql.lit('sending')), ...(since ? [eb('sent_at', '>=', since)] : [])]),
    )
    .limit(1)
    .execute()
  return notified.length > 0
}

/** Claims one batch. Locks the rollout's row, so that only one worker at a time claims for a variant. */
async function claimBatch(
  tx: Context,
  variantId: string,
  settings: AlertContent,
  sendContext: SendContext | null,
  capacity: number | null,
): Promise<'more' | 'no-quota' | 'over' | 'enough'> {
  const rollout = await lockRollout(tx, variantId)
  if (await findNextStart(tx, variantId, rollout)) return 'over'
  const now = tx.now()
  const available = rollout.is_open ? rollout.places : capacity
  const startedAt = rollout.is_open ? rollout.started_at! : now
  const saveRollout = (isOpen: boolean, remaining: number | null) =>
    tx.db
      .updateTable('stock_waves')
      .set({
        is_open: isOpen,
        places: remaining,
        started_at: startedAt,
        ...(isOpen ? {} : { ended_at: now }),
      })
      .where('variant_id', '=', variantId)
      .execute()
  if ((await countInFlight(tx, variantId)) >= maxInFlight) {
    await saveRollout(true, available)
    return 'enough'
  }
  const claim = await claimNext(tx, { variantId, settings, sendContext, limit: available, before: startedAt })
  const remaining = available === null ? null : available - claim.claimed
  const isOver = remaining === 0 || claim.isLast
  await saveRollout(!isOver, remaining)
  if (!isOver) return claim.lacksQuota ? 'no-quota' : 'more'
  if (await hasWaiting(tx, variantId)) {
    await queueRollout(tx, variantId, new Date(now.getTime() + rolloutIntervalMs))
  }
  return 'over'
}

async function lockRollout(tx: Context, variantId: string): Promise<RolloutRow> {
  await tx.db
    .insertInto('stock_waves')
    .values({ variant_id: variantId })
    .onConflict((conflict) => conflict.columns(['store_id', 'variant_id']).doNothing())
    .execute()
  return tx.db
    .selectFrom('stock_waves')
    .select(['is_open', 'places', 'started_at', 'ended_at'])
    .where('variant_id', '=', variantId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

async function countInFlight(tx: Context, variantId: string): Promise<number> {
  const { n } = await tx.db
    .selectFrom('stock_subscriptions')
    .select(sql<number>`count(*)::int`.as('n'))
    .where('variant_id', '=', variantId)
    .where('status', '=', sql.lit('sending'))
    .executeTakeFirstOrThrow()
  return n
}

async function hasWaiting(tx: Context, variantId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('stock_subscriptions')
    .select('id')
    .where('variant_id', '=', variantId)
    .where('status', '=', sql.lit('waiting'))
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Ends the variant's rollout. Subscriptions that were not claimed keep their position. */
async function closeRollout(ctx: Context, variantId: string): Promise<void> {
  await ctx.db
    .updateTable('stock_waves')
    .set({ is_open: false, ended_at: ctx.now() })
    .where('variant_id', '=', variantId)
    .where('is_open', '=', true)
    .execute()
}

/** Cancels all waiting subscriptions of a product that no longer exists. */
async function cancelGone(ctx: Context, variantId: string): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('stock_subscriptions')
    .set({ status: 'cancelled', reason: 'product-gone', updated_at: now })
    .where('variant_id', '=', variantId)
    .where('status', '=', 'waiting')
    .where('deleted_at', 'is', null)
    .execute()
  await closeRollout(ctx, variantId)
}

/** Continues the open rollouts of these variants, in the transaction that records the results of their alerts. */
export async function continueRollouts(tx: Context, variantIds: readonly string[]): Promise<void> {
  for (const variantId of new Set(variantIds)) {
    const open = await tx.db
      .selectFrom('stock_waves')
      .select('variant_id')
      .where('variant_id', '=', variantId)
      .where('is_open', '=', true)
      .executeTakeFirst()
    if (open) await queueRollout(tx, variantId)
  }
}
