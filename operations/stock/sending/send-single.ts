/** One alert, now, because the merchant wants it: threshold, waves and stock do not hold it back. */
import { sql } from 'kysely'
import { check } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { oneRow, unlessTaken } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { AlertContent } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import { noSuchSubscription } from '../subscriptions/subscriptions.ts'
import { findWay } from './means.ts'
import { messageContent, valuesOf } from './render.ts'

interface Found {
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
 * Claims one that waits or failed, in the caller's transaction. Answers its claim, and whether the catalog shows the
 * variant in stock (null: it does not know). Refuses what is on its way, sent or cancelled, a channel that is not
 * allowed, a phone that nothing can carry it to (409), and a phone without a message left in the cycle (403).
 */
export async function claimSingle(
  tx: Context,
  id: string,
): Promise<{ claimId: string; inStock: boolean | null }> {
  const row = await lock(tx, id)
  if (row.status !== 'waiting' && row.status !== 'failed') throw refuse('conflict', told[row.status]!)
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

const told: Readonly<Record<string, string>> = {
  sending: 'The alert is on its way already',
  sent: 'The alert was sent already',
  cancelled: 'The subscription was cancelled: the shopper may subscribe again',
}

function lock(tx: Context, id: string): Promise<Found> {
  const kept = tx.db
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
  return oneRow(kept, id, noSuchSubscription)
}

async function refuseUnreachable(tx: Context, row: Found, settings: AlertContent): Promise<void> {
  const way = await findWay(tx, settings)
  if (typeof way === 'string') throw refuse('conflict', way)
  const values = valuesOf(row, null, tx.store)
  const { content } = messageContent(settings, way.template, values, tx.store)
  const objection = await check(tx, { phone: row.phone!, content })
  if (objection) throw refuse('conflict', objection.message)
}

async function claim(tx: Context, row: Found, claimId: string, reservationId: string | null): Promise<void> {
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
  await unlessTaken('stock_subscriptions_open', again, () => claiming.execute())
}

async function isInStock(tx: Context, row: Found): Promise<boolean | null> {
  const variant = await tx.db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', 'p.product_id', 'v.product_id')
    .select(sql<boolean>`p.exists and p.is_published and (v.stock is null or v.stock > 0)`.as('in_stock'))
    .where('v.product_id', '=', row.product_id)
    .where('v.variant_id', '=', row.variant_id)
    .executeTakeFirst()
  return variant?.in_stock ?? null
}
