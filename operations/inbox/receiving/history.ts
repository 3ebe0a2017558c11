/** Messages from before the number was connected. They are shown, but neither unread nor waiting for an answer. */
import type { sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { isReceiving } from '../state.ts'
import { storeEcho } from './echo.ts'
import { storeInbound } from './receive.ts'

type Direction = 'inbound' | 'outbound'

/** While the inbox is off, the event stays stored; the reconcile run after enabling it replays it. */
export async function receiveHistoryMessage(
  ctx: Context,
  message: sending.InboundMessage,
  direction: Direction,
): Promise<void> {
  if (message.via === 'official' && (await isReceiving(ctx)))
    await storeHistoryMessage(ctx, message, direction)
}

/** Stores a message once; false if it is stored already. */
export const storeHistoryMessage = (
  ctx: Context,
  message: sending.InboundMessage,
  direction: Direction,
): Promise<boolean> =>
  direction === 'outbound'
    ? storeEcho(ctx, message, true)
    : storeInbound(ctx, message, { isUnread: false, mayReopen: () => false, isEarlier: true })
