import { DateTime } from 'luxon'
import { escapeHtml, files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { readRow } from '../rows.ts'
import { listOwners } from './owner-notifications.ts'

/** Emails each owner that a payment failed, unless it has succeeded meanwhile. `amount` is decimal text. */
export async function mailPaymentFailed(
  ctx: Context,
  { paymentId, amount, currency }: { paymentId: string; amount: string; currency: string },
): Promise<void> {
  const row = await readRow(ctx)
  if (row.status !== 'past-due' && row.status !== 'paused') return
  const { timezone, name } = ctx.store
  const until = row.grace_ends_at ?? row.paused_at
  const day = until && DateTime.fromJSDate(until, { zone: timezone }).toFormat('yyyy-MM-dd HH:mm')
  const failed = `The renewal of ${name} could not be charged: ${currency} ${amount}.`
  const remedy =
    'Replace the card under Subscription in the dashboard, or with POST /subscription/card-update: the charge is tried again at once.'
  const grace = day
    ? `Until ${day} (${timezone}) everything goes on; after that the store can only be read.`
    : ''
  for (const { userId, email } of await listOwners(ctx)) {
    await files.sendMail(ctx, {
      to: email,
      subject: `The payment of ${name} failed`.replace(/[\r\n]+/g, ' '),
      text: `${[failed, remedy, grace].filter(Boolean).join('\n\n')}\n`,
      html: [failed, remedy, grace]
        .filter(Boolean)
        .map((each) => `<p>${escapeHtml(each)}</p>`)
        .join(''),
      idempotencyKey: `payment-failed:${paymentId}:${userId}`,
    })
  }
}
