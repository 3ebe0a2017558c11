/** Alerts leave by the outbox: where their rows are, what is told of them, and that their wave goes on. */
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { type Channel, type Reason, reason } from '../subscription-schema.ts'
import { goOn } from './waves.ts'

/** A subscription whose alert was claimed. */
export interface Alert extends outbox.Standing {
  product_id: string
  variant_id: string
  product_name: string
  variant_name: string | null
  product_url: string | null
  channel: Channel
  contact_key: string | null
  name: string | null
  click_token: string
  claimed_at: Date
  /** By the merchant: neither stock nor settings hold it back. */
  is_wanted: boolean
  /** How it reads, while it is in hand. */
  text?: string
}

const words: Readonly<Record<string, Reason>> = {
  'recipient-stopped': 'opted-out',
  'invalid-recipient': 'bounced',
  'recipient-refused': 'bounced',
}

export const alerts = outbox.lane<Alert>()({
  kind: 'st',
  source: 'stock-notification',
  table: 'stock_subscriptions',
  columns: {
    attempt: ['attempt'],
    email: ['email'],
    code: ['reason', 'text'],
  },
  joined: (messages) =>
    messages.select([
      'm.product_id',
      'm.variant_id',
      'm.product_name',
      'm.variant_name',
      'm.product_url',
      'm.channel',
      'm.contact_key',
      'm.name',
      'm.click_token',
      'm.claimed_at',
      'm.is_wanted',
    ]),
  leaving: ['sending'],
  shown: { delivered: 'sent', read: 'sent' },
  claim: ['claim_id', 'claimed_at', 'called_at'],
  codeOf: (code) => words[code] ?? reason.options.find((each) => each === code) ?? 'provider-error',
  requeued,
  isRepeated: ({ attempt }) => attempt > 1,
  departing: ({ id, attempt, product_id: productId, product_name: sourceName, click_token, text }) => ({
    sourceId: id,
    sourceName,
    text: text ?? null,
    touch: {
      productId,
      clickToken: click_token,
      // The touch of a second attempt is another: that of the first, which failed, is void for good.
      messageId: attempt === 1 ? id : `${id}_${attempt}`,
    },
  }),
  moved: (tx, moves) =>
    goOn(
      tx,
      moves.flatMap(({ before, after }) =>
        before.status === 'sending' && after.status !== 'sending' ? after.variant_id : [],
      ),
    ),
})

/** What became of one; what is not told of stays claimed. */
export type Result = (outbox.Fate & { text?: string }) | { is: 'cancelled'; code: Reason }

/** Said of one that is in hand, by `unsubscribed`. */
export const leftMeanwhile: Reason = 'unsubscribed'

/** Tried again a little later under its claim, or waits again, in its place, where nothing can carry it now. */
function requeued(_tx: Context, row: Alert, because: outbox.Trouble | null): Alert {
  // They left while it was being handed over, which came to nothing.
  if (row.code === leftMeanwhile) return { ...row, status: 'cancelled', reservationId: null }
  const isTriedAgain = because?.reason === 'throttled' || because?.reason === 'provider-unavailable'
  return isTriedAgain ? row : { ...row, status: 'waiting', reservationId: null }
}

/** Where an alert stands then. */
export function after(ctx: Context, row: Alert, result: Result): Alert {
  if (result.is === 'cancelled') {
    return { ...row, calledAt: null, status: 'cancelled', code: result.code, reservationId: null }
  }
  if (result.is === 'back') return outbox.fated(ctx, alerts, row, result)
  const { text } = result
  const ended = row.code === leftMeanwhile ? { ...row, code: null } : row
  return { ...outbox.fated(ctx, alerts, ended, result), ...(text === undefined ? {} : { text }) }
}
