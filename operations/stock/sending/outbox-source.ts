/** Registers stock alerts with the outbox, and continues a rollout whenever results of its alerts are recorded. */
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
  /** True if the merchant requested this alert: it is sent even if the stock is too low or alerts are turned off. */
  is_wanted: boolean
  /** The rendered text, only set while the alert is being sent. */
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
      // Each attempt is a separate touch for attribution, because the touch of a failed attempt no longer counts.
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

/** The result to record for an alert. An alert for which none is recorded stays claimed. */
export type AlertResult = (outbox.Outcome & { text?: string }) | { kind: 'cancelled'; code: Reason }

/** The reason that `unsubscribe` sets on an alert that is being sent. */
export const unsubscribedMeanwhile: Reason = 'unsubscribed'

/**
 * Handles an alert that was not sent. Keeps its claim if it is retried soon; otherwise the subscription waits again at
 * its old position.
 */
function requeueAlert(_tx: Context, row: Alert, because: outbox.RequeueReason | null): Alert {
  // The shopper unsubscribed while the provider was called, and the call sent nothing.
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
