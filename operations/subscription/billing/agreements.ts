/** Applies changes of the payment agreement at the provider, whether the payer or this server made them. */
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { toCardSummary } from '../cards.ts'
import { addTask, listOpenIntents } from '../intents.ts'
import { notifyAgreementEnd } from '../notices/owner-notifications.ts'
import { saveRow } from '../rows.ts'
import { isAgreementLive, type SubscriptionRow } from '../transitions.ts'
import type { ReceivedEvent } from './apply.ts'
import { finishCancel } from './cancel.ts'

/** Applies an agreement event. Ignores events of other agreements, and events older than the last applied event. */
export async function applyAgreement(tx: Context, row: SubscriptionRow, event: ReceivedEvent): Promise<void> {
  const { agreement } = event.data
  if (!agreement || agreement.id !== row.agreement_id) return
  if (row.agreement_changed_at && event.occurredAt < row.agreement_changed_at) return
  const [request] = await listOpenIntents(tx, ['cancel'])
  if (agreement.status === 'cancelled' && request?.agreement_id === agreement.id) {
    await finishCancel(tx, row, request)
    return
  }
  const changed: Partial<SubscriptionRow> = {
    agreement_changed_at: event.occurredAt,
    ...(agreement.status === 'pending' ? {} : { agreement_status: agreement.status }),
    payment_method: toCardSummary(agreement.paymentMethod) ?? row.payment_method,
  }
  await saveRow(tx, row, { ...changed, ...(await applyStatus(tx, row, agreement.status, event.occurredAt)) })
}

async function applyStatus(
  tx: Context,
  row: SubscriptionRow,
  status: string,
  at: Date,
): Promise<Partial<SubscriptionRow>> {
  const isGone = status === 'paused' || status === 'cancelled'
  if (row.status === 'past-due' && isGone && isAgreementLive(row)) await notifyDebt(tx, status, at)
  if (row.status === 'paused' && status === 'authorized' && row.pause_reason !== 'provider') {
    // This server paused the agreement. If it stayed resumed, the payer would be charged without getting access.
    const { provider, agreement_id: agreementId } = row
    await addTask(tx, { kind: 'pause-agreement', provider: provider!, agreementId: agreementId! })
  }
  if (row.status !== 'active') return {}
  if (status === 'paused' && row.paused_at === null) {
    await notifyAgreementEnd(tx, 'paused', row.current_period_end, at)
    return { paused_at: row.current_period_end, pause_reason: 'provider' }
  }
  if (status === 'authorized' && row.pause_reason === 'provider')
    return { paused_at: null, pause_reason: null }
  if (status === 'cancelled') {
    await notifyAgreementEnd(tx, 'cancelled', row.current_period_end, at)
    const cancelled = { status: 'cancelled', cancelled_at: at, ends_at: row.current_period_end }
    return { ...cancelled, scheduled_change: null, paused_at: null, pause_reason: null }
  }
  return {}
}

async function notifyDebt(tx: Context, status: 'paused' | 'cancelled', at: Date): Promise<void> {
  await notify(tx, {
    type: 'agreement-changed',
    level: 'error',
    title: `The payment agreement was ${status} at the provider`,
    message: 'What is owed cannot be charged any more. Resume with a new checkout to go on.',
    link: '/subscription',
    dedupeKey: `agreement-changed:${at.toISOString()}`,
  })
}
