/** Messages from before the number was connected: shown, and nothing is asked of anybody for them. */
import type { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { isReceiving } from '../state.ts'
import { takeInEcho } from './echo.ts'
import { takeIn } from './receive.ts'

type Direction = 'inbound' | 'outbound'

/** While the inbox is off they wait among the stored events, where turning it on finds them. */
export async function receiveEarlier(
  ctx: Context,
  message: sending.InboundMessage,
  direction: Direction,
): Promise<void> {
  if (message.via === 'official' && (await isReceiving(ctx))) await takeInEarlier(ctx, message, direction)
}

/** Stores it once; false when it was there already. */
export const takeInEarlier = (
  ctx: Context,
  message: sending.InboundMessage,
  direction: Direction,
): Promise<boolean> =>
  direction === 'outbound'
    ? takeInEcho(ctx, message, true)
    : takeIn(ctx, message, { counts: false, mayOpen: () => false, isEarlier: true })
