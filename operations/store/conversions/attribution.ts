/** Records and voids touches: messages and popup subscriptions to which an order may be attributed (rule 3). */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { columnNames, isAmong, recordset } from '#runtime/database/recordset'
import { emailKey } from '#runtime/values/email'
import { phoneKey } from '#runtime/values/phone'
import { orderAttribute } from '../handles.ts'
import { attributionBatchSize } from '../orders/orders.ts'
import { activityAt, addActivity } from '../sums/daily-sums.ts'

export type SourceType = 'automation' | 'messaging-campaign' | 'newsletter' | 'stock-notification'

export interface Touch {
  sourceType: SourceType
  sourceId: string
  sourceName: string | null
  automationType?: string | null
  channel: 'messaging' | 'email' | 'storefront'
  messageId: string | null
  /** In E.164; stored as a `phoneKey`. */
  phone: string | null
  email: string | null
  couponCode?: string | null
  clickToken?: string | null
  productId?: string | null
  touchedAt: Date
}

/** Must run in the transaction that marks the messages as sent. Skips messages that already have a touch. */
export async function recordTouches(ctx: Context, touches: Touch[]): Promise<void> {
  if (touches.length === 0) return
  const rows = touches.map((touch) => ({
    id: ctx.newId(),
    source_type: touch.sourceType,
    source_id: touch.sourceId,
    source_name: touch.sourceName,
    automation_type: touch.automationType ?? null,
    channel: touch.channel,
    message_id: touch.messageId,
    phone_key: touch.phone === null ? null : phoneKey(touch.phone),
    email: touch.email === null ? null : emailKey(touch.email) || null,
    coupon_code: touch.couponCode ?? null,
    click_token: touch.clickToken ?? null,
    product_id: touch.productId ?? null,
    touched_at: touch.touchedAt,
  }))
  const added = await ctx.db
    .insertInto('attribution_touches')
    .columns(touchColumns)
    .expression((db) => db.selectFrom(recordset(touchTypes, rows)).select(touchColumns))
    .onConflict((conflict) => conflict.doNothing())
    .returning(['touched_at', 'message_id'])
    .execute()
  const byMessage = added.filter((touch) => touch.message_id !== null)
  await addActivity(
    ctx,
    byMessage.map((touch) => activityAt(touch.touched_at, 'touches', { n: 1 })),
  )
}

const touchTypes = {
  id: 'uuid',
  source_type: 'text',
  source_id: 'text',
  source_name: 'text',
  automation_type: 'text',
  channel: 'text',
  message_id: 'text',
  phone_key: 'text',
  email: 'text',
  coupon_code: 'text',
  click_token: 'text',
  product_id: 'text',
  touched_at: 'timestamptz',
} as const
const touchColumns = columnNames(touchTypes)

/** Voids the touches of failed messages permanently, and queues a new attribution of the orders attributed to them. */
export async function voidTouches(ctx: Context, messageIds: string[]): Promise<void> {
  if (messageIds.length === 0) return
  const voided = await ctx.db
    .updateTable('attribution_touches')
    .set({ voided_at: ctx.now() })
    .where(isAmong('message_id', messageIds))
    .where('voided_at', 'is', null)
    .returning(['touched_at', 'conversions'])
    .execute()
  await addActivity(
    ctx,
    voided.map((touch) =>
      activityAt(touch.touched_at, 'touches', { n: -1, converted: touch.conversions > 0 ? -1 : 0 }),
    ),
  )
  // Read after the update, which waits for running attributions: these lock the touches until they commit.
  const attributed = await ctx.db
    .selectFrom('conversions')
    .select('order_id')
    .where(isAmong('message_id', messageIds))
    .execute()
  const orderIds = attributed.map((row) => row.order_id)
  for (let i = 0; i < orderIds.length; i += attributionBatchSize) {
    await ctx.queue(orderAttribute, { orderIds: orderIds.slice(i, i + attributionBatchSize) })
  }
}

export type ConversionRow = Row<'conversions'>

export interface ConversionChange {
  /** Null: the order was not attributed to this source before. */
  before: ConversionRow | null
  /** Null: the order is no longer attributed, because the message failed. */
  after: ConversionRow | null
}
