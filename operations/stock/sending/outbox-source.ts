/** The outbox source of stock alerts. Each recorded batch continues its rollout. */
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { type Channel, type Reason, reason } from '../subscription-schema.ts'
import { continueRollouts } from './batch-rollout.ts'

/** A subscription whose alert was claimed. */
export interface Alert extends outbox.MessageState {
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
  /** Requested by the merchant: neither stock nor settings hold it back. */
  is_wanted: boolean
  /** The rendered text, while it is being sent. */
  text?: string
}

const storedCodes: Readonly<Record<string, Reason>> = {
  'recipient-stopped': 'opted-out',
  'invalid-recipient': 'bounced',
  'recipient-refused': 'bounced',
}

export const alerts = outbox.defineBatchSource<Alert>()({
  kind: 'st',
  messageSource: 'stock-notification',
  table: 'stock_subscriptions',
  columns: {
    attempt: ['attempt'],
    email: ['email'],
    code: ['reason', 'text'],
  },
  join: (messages) =>
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
  inFlightStatuses: ['sending'],
  statusNames: { delivered: 'sent', read: 'sent' },
  claimColumns: ['claim_id', 'claimed_at', 'called_at'],
  toStoredCode: (code) =>
    storedCodes[code] ?? reason.options.find((each) => each === code) ?? 'provider-error',
  requeue: requeueAlert,
  isRepeated: ({ attempt }) => attempt > 1,
  describeSent: ({ id, attempt, product_id: productId, product_name: sourceName, click_token, text }) => ({
    sourceId: id,
    sourceName,
    text: text ?? null,
    touch: {
      productId,
      clickToken: click_token,
      // Each attempt has its own touch: the touch of a failed attempt stays void.
      messageId: attempt === 1 ? id : `${id}_${attempt}`,
    },
  }),
  onTransitions: (tx, moves) =>
    continueRollouts(
      tx,
      moves.flatMap(({ before, after }) =>
        before.status === 'sending' && after.status !== 'sending' ? after.variant_id : [],
      ),
    ),
})

/** The result of an alert. An alert without a result stays claimed. */
export type AlertResult = (outbox.Outcome & { text?: string }) | { kind: 'cancelled'; code: Reason }

/** Reason set by `unsubscribe` on an alert that is being sent. */
export const unsubscribedMeanwhile: Reason = 'unsubscribed'

/** Keeps the claim for a retry soon, or makes the subscription wait again, at its old position, if it cannot be sent now. */
function requeueAlert(_tx: Context, row: Alert, because: outbox.RequeueReason | null): Alert {
  // The shopper unsubscribed during the call, which sent nothing.
  if (row.code === unsubscribedMeanwhile) return { ...row, status: 'cancelled', reservationId: null }
  const isTriedAgain = because?.reason === 'throttled' || because?.reason === 'provider-unavailable'
  return isTriedAgain ? row : { ...row, status: 'waiting', reservationId: null }
}

/** The alert's state after a result. */
export function applyResult(ctx: Context, row: Alert, result: AlertResult): Alert {
  if (result.kind === 'cancelled') {
    return { ...row, calledAt: null, status: 'cancelled', code: result.code, reservationId: null }
  }
  if (result.kind === 'requeued') return outbox.applyOutcome(ctx, alerts, row, result)
  const { text } = result
  const ended = row.code === unsubscribedMeanwhile ? { ...row, code: null } : row
  return { ...outbox.applyOutcome(ctx, alerts, ended, result), ...(text === undefined ? {} : { text }) }
}
