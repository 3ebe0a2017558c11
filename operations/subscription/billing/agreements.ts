/** The agreement at the provider: what the payer, or we, did to it. */
import { notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { cardOf } from '../cards.ts'
import { addTask, openIntents } from '../intents.ts'
import { isAgreementLive, type SubscriptionRow } from '../moves.ts'
import { tellOfEnd } from '../notices/notices.ts'
import { saveRow } from '../rows.ts'
import type { Told } from './apply.ts'
import { finishCancel } from './cancel.ts'

/** Only of the agreement that holds, and only what is newer than what was applied. */
export async function applyAgreement(tx: Context, row: SubscriptionRow, told: Told): Promise<void> {
  const { agreement } = told.data
  if (!agreement || agreement.id !== row.agreement_id) return
  if (row.agreement_changed_at && told.occurredAt < row.agreement_changed_at) return
  const [asked] = await openIntents(tx, ['cancel'])
  if (agreement.status === 'cancelled' && asked?.agreement_id === agreement.id) {
    await finishCancel(tx, row, asked)
    return
  }
  const changed: Partial<SubscriptionRow> = {
    agreement_changed_at: told.occurredAt,
    ...(agreement.status === 'pending' ? {} : { agreement_status: agreement.status }),
    payment_method: cardOf(agreement.paymentMethod) ?? row.payment_method,
  }
  await saveRow(tx, row, { ...changed, ...(await movedBy(tx, row, agreement.status, told.occurredAt)) })
}

async function movedBy(
  tx: Context,
  row: SubscriptionRow,
  status: string,
  at: Date,
): Promise<Partial<SubscriptionRow>> {
  const isGone = status === 'paused' || status === 'cancelled'
  if (row.status === 'past-due' && isGone && isAgreementLive(row)) await tellOfDebt(tx, status, at)
  if (row.status === 'paused' && status === 'authorized' && row.pause_reason !== 'provider') {
    // It was ours to pause: going on there would be charged for, and brings nothing back here.
    const { provider, agreement_id: agreementId } = row
    await addTask(tx, { kind: 'pause-agreement', provider: provider!, agreementId: agreementId! })
  }
  if (row.status !== 'active') return {}
  if (status === 'paused' && row.paused_at === null) {
    await tellOfEnd(tx, 'paused', row.current_period_end, at)
    return { paused_at: row.current_period_end, pause_reason: 'provider' }
  }
  if (status === 'authorized' && row.pause_reason === 'provider')
    return { paused_at: null, pause_reason: null }
  if (status === 'cancelled') {
    await tellOfEnd(tx, 'cancelled', row.current_period_end, at)
    const cancelled = { status: 'cancelled', cancelled_at: at, ends_at: row.current_period_end }
    return { ...cancelled, scheduled_change: null, paused_at: null, pause_reason: null }
  }
  return {}
}

async function tellOfDebt(tx: Context, status: 'paused' | 'cancelled', at: Date): Promise<void> {
  await notify(tx, {
    type: 'agreement-changed',
    level: 'error',
    title: `The payment agreement was ${status} at the provider`,
    message: 'What is owed cannot be charged any more. Resume with a new checkout to go on.',
    link: '/subscription',
    dedupeKey: `agreement-changed:${at.toISOString()}`,
  })
}
