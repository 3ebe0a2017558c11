/**
 * Stores messages from before the number was connected. They are shown, but are neither unread nor waiting for an
 * answer.
 */
import type { sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { isReceiving } from '../state.ts'
import { storeEcho } from './echo.ts'
import { storeInbound } from './receive.ts'

type Direction = 'inbound' | 'outbound'

/**
 * Stores a message of the provider's history. Ignores it while the inbox is off: its event is kept, and is replayed by
 * the reconcile run once the inbox is turned on.
 */
export async function receiveHistoryMessage(
  ctx: Context,
  message: sending.InboundMessage,
  direction: Direction,
): Promise<void> {
  if (message.via === 'official' && (await isReceiving(ctx)))
    await storeHistoryMessage(ctx, message, direction)
}

/** Stores the message. Returns false if it is already stored. */
export const storeHistoryMessage = (
  ctx: Context,
  message: sending.InboundMessage,
  direction: Direction,
): Promise<boolean> =>
  direction === 'outbound'
    ? storeEcho(ctx, message, true)
    : storeInbound(ctx, message, { isUnread: false, mayReopen: () => false, isEarlier: true })
