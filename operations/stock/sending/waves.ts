/** Waves: who is told when stock returns, in order and as far as it goes (rules 2 and 3). */

import { sql } from 'kysely'
import { mayUse } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { placesFor, readLive } from '../facts.ts'
import { stockAlertWave } from '../handles.ts'
import type { AlertContent } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import { claimNext } from './claims.ts'
import { findWay, type Way } from './means.ts'

/** From the end of one wave to the beginning of the next. */
const betweenMs = 60 * minuteMs
/** Alerts of one variant on their way at once: turning alerts off stops all others. */
const underwayAtMost = 400

interface WaveRow {
  is_open: boolean
  /** How many more may be told; null: all. */
  places: number | null
  started_at: Date | null
  ended_at: Date | null
}

/** Queues the wave of a variant, now or for later; one of each kind waits at most. */
export const queueWave = (ctx: Context, variantId: string, at: Date | null = null) =>
  ctx.queue(stockAlertWave, { variantId, isNext: at !== null }, at ? { at } : {})

/**
 * Begins the wave of a variant, or goes on with it: claims who is told and queues their alerts, until all places are
 * taken or enough are on their way. Throws when the platform does not answer: whoever was not claimed keeps their place.
 */
export async function runWave(ctx: Context, variantId: string, signal: AbortSignal): Promise<void> {
  const settings = await readAlerts(ctx)
  if (!settings.isEnabled || !(await mayUse(ctx, 'stock-alerts'))) return
  const { wave, productId } = await standing(ctx, variantId)
  if (productId === null) return closeWave(ctx, variantId)
  const later = await nextAt(ctx, variantId, wave)
  if (later) {
    await queueWave(ctx, variantId, later)
    return
  }
  const live = await readLive(ctx, productId, variantId)
  if (live === null) return
  if (live === 'gone') return cancelGone(ctx, variantId)
  const places = placesFor(live, settings.ignoreStockThreshold)
  if (places === 0) return closeWave(ctx, variantId)
  const found = await findWay(ctx, settings)
  let way: Way | null = typeof found === 'string' ? null : found
  while (!signal.aborted) {
    const step = await ctx.transaction((tx) => tell(tx, variantId, settings, way, places))
    if (step === 'no-quota') way = null
    else if (step !== 'more') return
  }
  await queueWave(ctx, variantId)
}

/** The wave's row, and the product where people wait for it. */
async function standing(
  ctx: Context,
  variantId: string,
): Promise<{ wave: WaveRow | undefined; productId: string | null }> {
  const wave = await ctx.db
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
  return { wave, productId: waiting?.product_id ?? null }
}

/** When the next wave may begin, where that is not now: after one that told nobody it may at once. */
async function nextAt(ctx: Context, variantId: string, wave: WaveRow | undefined): Promise<Date | null> {
  // One that ends later than now was ended by a clock that was ahead.
  if (!wave || wave.is_open || wave.ended_at === null || wave.ended_at > ctx.now()) return null
  const at = new Date(wave.ended_at.getTime() + betweenMs)
  return at > ctx.now() && (await hasTold(ctx, variantId, wave.started_at)) ? at : null
}

/** Whether somebody was told since a wave began, or is being told. */
async function hasTold(ctx: Context, variantId: string, since: Date | null): Promise<boolean> {
  const told = await ctx.db
    .selectFrom('stock_subscriptions')
    .select('id')
    .where('variant_id', '=', variantId)
    .where((eb) =>
      eb.or([eb('status', '=', sql.lit('sending')), ...(since ? [eb('sent_at', '>=', since)] : [])]),
    )
    .limit(1)
    .execute()
  return told.length > 0
}

/** One batch, in a transaction that holds the wave's row: two who tell people of one variant take turns. */
async function tell(
  tx: Context,
  variantId: string,
  settings: AlertContent,
  way: Way | null,
  places: number | null,
): Promise<'more' | 'no-quota' | 'over' | 'enough'> {
  const wave = await lockWave(tx, variantId)
  if (await nextAt(tx, variantId, wave)) return 'over'
  const now = tx.now()
  const left = wave.is_open ? wave.places : places
  const startedAt = wave.is_open ? wave.started_at! : now
  const write = (isOpen: boolean, remaining: number | null) =>
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
  if ((await underway(tx, variantId)) >= underwayAtMost) {
    await write(true, left)
    return 'enough'
  }
  const claim = await claimNext(tx, { variantId, settings, way, atMost: left, before: startedAt })
  const remaining = left === null ? null : left - claim.claimed
  const isOver = remaining === 0 || claim.isLast
  await write(!isOver, remaining)
  if (!isOver) return claim.lacksQuota ? 'no-quota' : 'more'
  if (await isAwaited(tx, variantId)) {
    await queueWave(tx, variantId, new Date(now.getTime() + betweenMs))
  }
  return 'over'
}

async function lockWave(tx: Context, variantId: string): Promise<WaveRow> {
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

async function underway(tx: Context, variantId: string): Promise<number> {
  const { n } = await tx.db
    .selectFrom('stock_subscriptions')
    .select(sql<number>`count(*)::int`.as('n'))
    .where('variant_id', '=', variantId)
    .where('status', '=', sql.lit('sending'))
    .executeTakeFirstOrThrow()
  return n
}

async function isAwaited(tx: Context, variantId: string): Promise<boolean> {
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

/** A wave whose stock was sold meanwhile ends: whoever was not told keeps their place. */
async function closeWave(ctx: Context, variantId: string): Promise<void> {
  await ctx.db
    .updateTable('stock_waves')
    .set({ is_open: false, ended_at: ctx.now() })
    .where('variant_id', '=', variantId)
    .where('is_open', '=', true)
    .execute()
}

/** Nobody can be told of what is gone. */
async function cancelGone(ctx: Context, variantId: string): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('stock_subscriptions')
    .set({ status: 'cancelled', reason: 'product-gone', updated_at: now })
    .where('variant_id', '=', variantId)
    .where('status', '=', 'waiting')
    .where('deleted_at', 'is', null)
    .execute()
  await closeWave(ctx, variantId)
}

/** A batch has left: its wave goes on where it is not over. In the transaction that writes down what became of it. */
export async function goOn(tx: Context, variantIds: readonly string[]): Promise<void> {
  for (const variantId of new Set(variantIds)) {
    const open = await tx.db
      .selectFrom('stock_waves')
      .select('variant_id')
      .where('variant_id', '=', variantId)
      .where('is_open', '=', true)
      .executeTakeFirst()
    if (open) await queueWave(tx, variantId)
  }
}
