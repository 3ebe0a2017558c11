/** Sends one alert now at the merchant's request, regardless of stock, threshold and rollouts. */
import { sql } from 'kysely'
import { check } from '#operations/messaging/index'
import { metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuseDuplicate, requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { AlertContent } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import { noSuchSubscription } from '../subscriptions/subscriptions.ts'
import { buildValues, renderMessage } from './render.ts'
import { findSendContext } from './send-context.ts'

interface LockedSubscription {
  id: string
  product_id: string
  variant_id: string
  product_name: string
  variant_name: string | null
  product_url: string | null
  click_token: string
  channel: string
  phone: string | null
  name: string | null
  status: string
}

/**
 * Claims a waiting or failed subscription, in the caller's transaction. Returns the claim, and whether the variant is in
 * stock in the catalog cache; null if that is unknown. Refuses:
 * - an alert that is being sent, was sent or was cancelled (409);
 * - a channel that is not allowed, or a phone that cannot be reached (409);
 * - an exhausted quota (403).
 */
export async function claimSingle(
  tx: Context,
  id: string,
): Promise<{ claimId: string; inStock: boolean | null }> {
  const row = await lockSubscription(tx, id)
  if (row.status !== 'waiting' && row.status !== 'failed')
    throw refuse('conflict', conflictMessages[row.status]!)
  const settings = await readAlerts(tx)
  if (row.channel === 'email' ? !settings.allowEmails : !settings.allowPhones) {
    throw refuse('conflict', `The settings of stock alerts do not allow ${row.channel}s: allow them first`)
  }
  let reservationId: string | null = null
  if (row.channel === 'phone') {
    await refuseUnreachable(tx, row, settings)
    reservationId = await metering.reserve(tx, 1, 'stock-notification')
  }
  const claimId = tx.newId()
  await claim(tx, row, claimId, reservationId)
  return { claimId, inStock: await isInStock(tx, row) }
}

const conflictMessages: Readonly<Record<string, string>> = {
  sending: 'The alert is on its way already',
  sent: 'The alert was sent already',
  cancelled: 'The subscription was cancelled: the shopper may subscribe again',
}

function lockSubscription(tx: Context, id: string): Promise<LockedSubscription> {
  const subscription = tx.db
    .selectFrom('stock_subscriptions')
    .select([
      'id',
      'product_id',
      'variant_id',
      'product_name',
      'variant_name',
      'product_url',
      'click_token',
      'channel',
      'phone',
      'name',
      'status',
    ])
    .where('deleted_at', 'is', null)
    .forUpdate()
  return requireRow(subscription, id, noSuchSubscription)
}

async function refuseUnreachable(
  tx: Context,
  row: LockedSubscription,
  settings: AlertContent,
): Promise<void> {
  const sendContext = await findSendContext(tx, settings)
  if (typeof sendContext === 'string') throw refuse('conflict', sendContext)
  const values = buildValues(row, null, tx.store)
  const { content } = renderMessage(settings, sendContext.template, values, tx.store)
  const failedPrecondition = await check(tx, { phone: row.phone!, content })
  if (failedPrecondition) throw refuse('conflict', failedPrecondition.message)
}

async function claim(
  tx: Context,
  row: LockedSubscription,
  claimId: string,
  reservationId: string | null,
): Promise<void> {
  const now = tx.now()
  const claiming = tx.db
    .updateTable('stock_subscriptions')
    .set({
      status: 'sending',
      reason: null,
      attempt: sql<number>`attempt + case when status = 'failed' then 1 else 0 end`,
      claim_id: claimId,
      claimed_at: now,
      called_at: null,
      is_wanted: true,
      reservation_id: reservationId,
      provider_message_id: null,
      sent_at: null,
      delivered_at: null,
      read_at: null,
      failed_at: null,
      updated_at: now,
    })
    .where('id', '=', row.id)
  const again = 'The shopper has subscribed again and waits already: send that one'
  await refuseDuplicate('stock_subscriptions_open', again, () => claiming.execute())
}

async function isInStock(tx: Context, row: LockedSubscription): Promise<boolean | null> {
  const variant = await tx.db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', 'p.product_id', 'v.product_id')
    .select(sql<boolean>`p.exists and p.is_published and (v.stock is null or v.stock > 0)`.as('in_stock'))
    .where('v.product_id', '=', row.product_id)
    .where('v.variant_id', '=', row.variant_id)
    .executeTakeFirst()
  return variant?.in_stock ?? null
}
