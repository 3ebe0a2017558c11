/**
 * Queues rollouts on stock events, and reconciles what events missed: returned stock, a lost webhook, alerts of dead
 * workers.
 */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { events } from '#operations/store/index'
import { connections, mayUse } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { findLiveVariant, getCapacity } from '../facts.ts'
import { stockAlertSend } from '../handles.ts'
import { readAlerts, recordStockEvent, registerWebhook } from '../settings/settings.ts'
import { queueRollout } from './batch-rollout.ts'

/** A subscription that has waited longer expires. */
const maxWaitDays = 365
const productsPerPage = 50
const maxDeadClaims = 1000

/** Queues a rollout for each variant of the events that shoppers wait for, in the transaction that applies the events. */
export async function handleStockEvents(
  tx: Context,
  storedEvents: readonly events.StoredEvent[],
): Promise<void> {
  const newest = new Date(Math.max(...storedEvents.map((event) => event.occurredAt.getTime())))
  await recordStockEvent(tx, newest)
  if (!(await readAlerts(tx)).isEnabled) return
  const ids = [...new Set(storedEvents.flatMap(listIds))]
  const rows = await tx.db
    .selectFrom('stock_subscriptions')
    .select('variant_id')
    .distinct()
    .where('status', '=', 'waiting')
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`(product_id = any(${ids}::text[]) or variant_id = any(${ids}::text[]))`)
    .orderBy('variant_id')
    .execute()
  for (const row of rows) await queueRollout(tx, row.variant_id)
}

/** Lists the ids in a stock event, which may name a product or a variant. */
function listIds({ data }: events.StoredEvent): string[] {
  const { id, productId } = (data ?? {}) as { id?: unknown; productId?: unknown }
  return [id, productId].filter((each): each is string => typeof each === 'string' && each !== '')
}

/** Reconciles one store. Runs every quarter of an hour; if the platform does not respond, the next run catches up. */
export async function reconcile(ctx: Context): Promise<void> {
  await cancelExpired(ctx)
  await recoverDead(ctx)
  const settings = await readAlerts(ctx)
  if (!settings.isEnabled || !(await mayUse(ctx, 'stock-alerts'))) return
  const connected = await connections.findEcommerce(ctx)
  if (!connected) return
  try {
    await registerWebhook(ctx)
    const awaited = await findAwaitedVariants(ctx)
    const productIds = [...new Set(awaited.map((each) => each.product_id))]
    for (let i = 0; i < productIds.length; i += productsPerPage) {
      const ids = productIds.slice(i, i + productsPerPage)
      const products = await connected.port.getProducts(connected.store, { ids })
      const byId = new Map(products.map((product) => [product.id, product]))
      for (const each of awaited.filter(({ product_id: id }) => ids.includes(id))) {
        const live = findLiveVariant(byId.get(each.product_id), each.variant_id)
        if (live === 'gone' || getCapacity(live, settings.ignoreStockThreshold) !== 0) {
          await queueRollout(ctx, each.variant_id)
        }
      }
    }
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Throttled || error instanceof Refused)) throw error
    ctx.log.warn({ err: error }, 'stock reconciliation failed, platform unavailable')
  }
}

const findAwaitedVariants = (ctx: Context): Promise<{ product_id: string; variant_id: string }[]> =>
  ctx.db
    .selectFrom('stock_subscriptions')
    .select(['product_id', 'variant_id'])
    .distinct()
    .where('status', '=', sql.lit('waiting'))
    .where('deleted_at', 'is', null)
    .orderBy('product_id')
    .orderBy('variant_id')
    .execute()

async function cancelExpired(ctx: Context): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('stock_subscriptions')
    .set({ status: 'cancelled', reason: 'expired', updated_at: now })
    .where('status', '=', sql.lit('waiting'))
    .where('deleted_at', 'is', null)
    .where('created_at', '<=', new Date(now.getTime() - maxWaitDays * dayMs))
    .execute()
}

/**
 * Requeues the claims of dead workers, whose alerts are resent under the same idempotency keys, and continues open
 * rollouts.
 */
async function recoverDead(ctx: Context): Promise<void> {
  const claims = await ctx.db
    .selectFrom('stock_subscriptions')
    .select('claim_id')
    .distinct()
    .where('status', '=', sql.lit('sending'))
    .where('claimed_at', '<=', new Date(ctx.clock.ms() - outbox.deadAfterMs))
    .where('claim_id', 'is not', null)
    .limit(maxDeadClaims)
    .execute()
  for (const { claim_id: claimId } of claims) await ctx.queue(stockAlertSend, { claimId: claimId!, tries: 0 })
  const waves = await ctx.db
    .selectFrom('stock_waves')
    .select('variant_id')
    .where('is_open', '=', true)
    .execute()
  for (const { variant_id: variantId } of waves) await queueRollout(ctx, variantId)
}

/**
 * Selects stores with waiting subscriptions or alerts being sent. It is a union, so that each part uses its own index.
 */
export const selectStoresWithWork = ({ root }: SystemContext) =>
  root
    .selectFrom('stock_subscriptions')
    .select('store_id')
    .where('status', '=', sql.lit('waiting'))
    .where('deleted_at', 'is', null)
    .union(
      root
        .selectFrom('stock_subscriptions')
        .select('store_id')
        .where('status', '=', sql.lit('sending'))
        .where('deleted_at', 'is', null),
    )
