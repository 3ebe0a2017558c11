/** A change that holds from the end of the period: the provider is told the next charge at once. */
import type { Context } from '#runtime/context'
import { closeIntent, findIntent } from '../intents.ts'
import { nextCharge, type SubscriptionRow } from '../moves.ts'
import { lockRow, saveRow } from '../rows.ts'
import { scheduledWith, stillFits, type Terms } from '../terms.ts'

/** A change of the next charge: what the provider will be told. */
export interface ScheduleTerms extends Terms {
  nextAmount: string
}

export function intended(row: SubscriptionRow, terms: Terms): ScheduleTerms {
  const next = nextCharge({ ...row, ...scheduledWith(row, terms) })
  return { ...terms, nextAmount: next?.amount ?? terms.cost }
}

/** The provider knows the next charge: the change is scheduled, or dropped. Once, under the lock. */
export async function finishSchedule(tx: Context, intentId: string, toldAmount: string): Promise<void> {
  const row = await lockRow(tx)
  const intent = (await findIntent(tx, intentId))!
  if (!(await closeIntent(tx, intentId, 'done'))) return
  const terms = intent.terms as ScheduleTerms
  if (row.agreement_id !== intent.agreement_id) return
  await saveRow(tx, row, {
    ...(stillFits(row, terms) ? scheduledWith(row, terms) : {}),
    agreement_amount: toldAmount,
  })
}
