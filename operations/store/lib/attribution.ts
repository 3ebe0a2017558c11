/** Touches: what may have brought an order about (Rules 3). */
import type { Context } from '#runtime/context'

export interface Touch {
  sourceType: 'automation' | 'messaging-campaign' | 'newsletter' | 'stock-notification'
  sourceId: string
  sourceName: string | null
  automationType?: string | null
  channel: 'messaging' | 'email' | 'storefront'
  messageId: string | null
  /** E.164; kept by its match form. */
  phone: string | null
  email: string | null
  couponCode?: string | null
  clickToken?: string | null
  productId?: string | null
  touchedAt: Date
}

/** In the transaction that marks the messages sent. A message id that has a touch already makes none. */
export async function recordTouches(_ctx: Context, _touches: Touch[]): Promise<void> {
  throw new Error('being written')
}

/** Void for good: their messages failed. */
export async function voidTouches(_ctx: Context, _messageIds: string[]): Promise<void> {
  throw new Error('being written')
}
