/** Schedules a plan change for the end of the period; the amount of the next charge is sent to the provider at once. */
import type { Context } from '#runtime/context'
import { closeIntent, findIntent } from '../intents.ts'
import { buildScheduledChange, isQuoteValid, type Quote } from '../quote.ts'
import { lockRow, saveRow } from '../rows.ts'
import { computeNextCharge, type SubscriptionRow } from '../transitions.ts'

/** A quote with the next amount to send to the provider. */
export interface ScheduleQuote extends Quote {
  nextAmount: string
}

export function buildScheduleQuote(row: SubscriptionRow, quote: Quote): ScheduleQuote {
  const next = computeNextCharge({ ...row, ...buildScheduledChange(row, quote) })
  return { ...quote, nextAmount: next?.amount ?? quote.cost }
}

/**
 * Schedules the change after the provider accepted the next amount, unless the quote is outdated. Idempotent; takes the
 * lock of the subscription.
 */
export async function finishSchedule(tx: Context, intentId: string, confirmedAmount: string): Promise<void> {
  const row = await lockRow(tx)
  const intent = (await findIntent(tx, intentId))!
  if (!(await closeIntent(tx, intentId, 'done'))) return
  const quote = intent.terms as ScheduleQuote
  if (row.agreement_id !== intent.agreement_id) return
  await saveRow(tx, row, {
    ...(isQuoteValid(row, quote) ? buildScheduledChange(row, quote) : {}),
    agreement_amount: confirmedAmount,
  })
}
