/** What happened to the demo's requests, and the emails that told of it. */
import { namedId } from '#runtime/values/ids'
import type { PlannedRequest, Step } from './exchange-plan.ts'
import type { SeedRow } from './rows.ts'
import { auroraPeople } from './store.ts'

/** An email leaves so long after its cause. */
const leftAt = ({ at }: Step): Date => new Date(at.getTime() + 20_000)

const eventWords: Record<string, string> = { addressChanged: 'address changed' }

export function historyRows(id: string, { order, steps }: PlannedRequest): SeedRow<'exchange_history'>[] {
  let status: string | null = null
  return steps.flatMap((step, n) => {
    const from = status
    status = step.to ?? status
    const isMember = step.by !== 'customer' && step.by !== 'system'
    const row = {
      id: namedId(`exchange history ${id} ${n}`, step.at.getTime()),
      request_id: id,
      at: step.at,
      event: step.event,
      from_status: step.to === null ? null : from,
      to_status: step.to,
      actor_type: isMember ? 'member' : step.by,
      actor_name: isMember
        ? auroraPeople.find(({ key }) => key === step.by)!.name
        : step.by === 'customer'
          ? order.customer.name
          : null,
      note: step.note,
    }
    if (step.tells === null) return [row]
    const told = {
      ...row,
      id: namedId(`exchange history ${id} ${n} told`, leftAt(step).getTime()),
      at: leftAt(step),
      event: 'notified',
      from_status: null,
      to_status: null,
      actor_type: 'system',
      actor_name: null,
      note: `Email: ${eventWords[step.tells] ?? step.tells}`,
    }
    return [row, told]
  })
}

export const noticeRows = (
  id: string,
  { order, steps }: PlannedRequest,
): (SeedRow<'exchange_notices'> & { id: string; request_id: string })[] =>
  steps.flatMap((step) => {
    if (step.tells === null) return []
    const at = leftAt(step)
    const noticeId = namedId(`exchange notice ${id} ${step.tells}`, step.at.getTime())
    return {
      id: noticeId,
      request_id: id,
      event: step.tells,
      sequence: 1,
      channel: 'email',
      state: 'sent',
      recipient: order.customer.email!,
      content: null,
      reservation_id: null,
      tries: 1,
      called_at: at,
      next_try_at: step.at,
      provider_message_id: `<${noticeId}@sandbox.invalid>`,
      failure: null,
      sent_at: at,
      created_at: step.at,
      updated_at: at,
    }
  })

export const ledgerRow = (row: SeedRow<'exchange_notices'>): SeedRow<'message_ledger'> => ({
  message_id: row.id,
  channel: 'email',
  source: 'exchange',
  source_id: row.request_id,
  phone_key: null,
  email: row.recipient.toLowerCase(),
  provider_message_id: row.provider_message_id ?? null,
  status: 'sent',
  failure_code: null,
  sent_at: row.sent_at as Date,
  delivered_at: null,
  read_at: null,
  failed_at: null,
})
