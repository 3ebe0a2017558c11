/** What events did not tell: stock that came back, webhooks that are gone, alerts whose worker is. */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { events } from '#operations/store/door'
import { connections, mayUse } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { liveOf, placesFor } from '../facts.ts'
import { stockAlertSend } from '../handles.ts'
import { noteStockEvent, readAlerts, registerWebhook } from '../settings/settings.ts'
import { queueWave } from './waves.ts'

/** Who waits longer has forgotten. */
const waitsDays = 365
const productsAtOnce = 50
const deadAtOnce = 1000

/** In the transaction that applies the events: the waves of what people wait for are queued. */
export async function stockChanged(tx: Context, told: readonly events.StoredEvent[]): Promise<void> {
  const newest = new Date(Math.max(...told.map((event) => event.occurredAt.getTime())))
  await noteStockEvent(tx, newest)
  if (!(await readAlerts(tx)).isEnabled) return
  const ids = [...new Set(told.flatMap(idsIn))]
  const rows = await tx.db
    .selectFrom('stock_subscriptions')
    .select('variant_id')
    .distinct()
    .where('status', '=', 'waiting')
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`(product_id = any(${ids}::text[]) or variant_id = any(${ids}::text[]))`)
    .orderBy('variant_id')
    .execute()
  for (const row of rows) await queueWave(tx, row.variant_id)
}

/** Stock is told of by product or by variant. */
function idsIn({ data }: events.StoredEvent): string[] {
  const { id, productId } = (data ?? {}) as { id?: unknown; productId?: unknown }
  return [id, productId].filter((each): each is string => typeof each === 'string' && each !== '')
}

/** One store's quarter of an hour. What the platform does not answer is left to the next. */
export async function reconcile(ctx: Context): Promise<void> {
  await cancelExpired(ctx)
  await wakeDead(ctx)
  const settings = await readAlerts(ctx)
  if (!settings.isEnabled || !(await mayUse(ctx, 'stock-alerts'))) return
  const connected = await connections.ecommerce(ctx)
  if (!connected) return
  try {
    await registerWebhook(ctx)
    const awaited = await awaitedVariants(ctx)
    const productIds = [...new Set(awaited.map((each) => each.product_id))]
    for (let i = 0; i < productIds.length; i += productsAtOnce) {
      const ids = productIds.slice(i, i + productsAtOnce)
      const products = await connected.port.getProducts(connected.store, { ids })
      const byId = new Map(products.map((product) => [product.id, product]))
      for (const each of awaited.filter(({ product_id: id }) => ids.includes(id))) {
        const live = liveOf(byId.get(each.product_id), each.variant_id)
        if (live === 'gone' || placesFor(live, settings.ignoreStockThreshold) !== 0) {
          await queueWave(ctx, each.variant_id)
        }
      }
    }
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Throttled || error instanceof Refused)) throw error
    ctx.log.warn({ err: error }, 'the platform could not be asked for the stock that people wait for')
  }
}

const awaitedVariants = (ctx: Context): Promise<{ product_id: string; variant_id: string }[]> =>
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
    .where('created_at', '<=', new Date(now.getTime() - waitsDays * dayMs))
    .execute()
}

/** Claims that no job looks after any more are taken up again under their keys, and open waves go on. */
async function wakeDead(ctx: Context): Promise<void> {
  const claims = await ctx.db
    .selectFrom('stock_subscriptions')
    .select('claim_id')
    .distinct()
    .where('status', '=', sql.lit('sending'))
    .where('claimed_at', '<=', new Date(ctx.clock.ms() - outbox.deadAfterMs))
    .where('claim_id', 'is not', null)
    .limit(deadAtOnce)
    .execute()
  for (const { claim_id: claimId } of claims) await ctx.queue(stockAlertSend, { claimId: claimId!, tries: 0 })
  const waves = await ctx.db
    .selectFrom('stock_waves')
    .select('variant_id')
    .where('is_open', '=', true)
    .execute()
  for (const { variant_id: variantId } of waves) await queueWave(ctx, variantId)
}

/** Stores where somebody waits, or an alert is on its way: each out of its index. */
export const storesWithWork = ({ root }: SystemContext) =>
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
