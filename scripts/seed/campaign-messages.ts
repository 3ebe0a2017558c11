/** The messages of a campaign that was sent, with what became of each: rows, ledger, touches. */
import type { FailedAs } from '#db/tables/columns'
import { namedId } from '#runtime/values/ids'
import type { Contact } from './lists.ts'
import type { Random } from './random.ts'
import type { SeedRow } from './rows.ts'
import { dayMs, minuteMs, type Timeline } from './timeline.ts'

export interface Failure {
  code: 'not-on-network' | 'undelivered' | 'frequency-capped'
  /** Taken by the provider at first: it counts, and its touch is void. */
  wasAccepted: boolean
}

export interface Sending {
  campaignId: string
  campaignName: string
  startedAt: Date
  /** In no order; each phone once. */
  recipients: readonly Pick<Contact, 'phone' | 'phone_key' | 'name' | 'email' | 'custom_fields'>[]
  /** Ids of the list's contacts by phone; of a list that is gone none. */
  contactIds: ReadonlyMap<string, string>
  /** Opted out when the list was copied. */
  skippedPhones: ReadonlySet<string>
  /** Read, because they ordered or answered. */
  readerPhones: ReadonlySet<string>
  sent: number
  failures: readonly Failure[]
  /** What the rest, if any, is now. */
  rest: 'pending' | 'cancelled'
  reservationId: string | null
  render(contact: Pick<Contact, 'name'>): string
}

export interface Sent {
  messages: SeedRow<'campaign_messages'>[]
  ledger: SeedRow<'message_ledger'>[]
  touches: SeedRow<'attribution_touches'>[]
}

const failureMessages: Record<Failure['code'], string> = {
  'not-on-network': 'The phone is not on the network',
  undelivered: 'The message was taken, but could not be delivered',
  'frequency-capped': 'This person got the most marketing messages that the network allows for now',
}

type Outcome = 'sent' | 'delivered' | 'read' | 'failed' | 'skipped' | 'pending' | 'cancelled'

/** 92 % of what was sent arrives, 70 % is read. */
export function makeMessages(sending: Sending, timeline: Timeline, random: Random): Sent {
  const { campaignId, startedAt, skippedPhones, readerPhones } = sending
  const isReader = (phone: string): boolean => readerPhones.has(phone)
  const shuffled = random.shuffled(sending.recipients)
  const skipped = shuffled.filter((each) => skippedPhones.has(each.phone))
  const reachable = shuffled.filter((each) => !skippedPhones.has(each.phone))
  const fates = fatesOf(sending, reachable, random)

  const messages = [...skipped, ...reachable].map((contact, index): SeedRow<'campaign_messages'> => {
    const fate = fates.get(contact.phone) ?? { outcome: 'skipped' as const, failure: null }
    const { outcome, failure } = fate
    const leftAt = new Date(startedAt.getTime() + 2000 + index * 120)
    const wasTaken = failure ? failure.wasAccepted : ['sent', 'delivered', 'read'].includes(outcome)
    const wasTried = wasTaken || failure !== null
    const deliveredAt =
      outcome === 'delivered' || outcome === 'read'
        ? timeline.notAfterNow(new Date(leftAt.getTime() + random.between(1500, 40_000)))
        : null
    const isQuick = isReader(contact.phone)
    const readAt =
      outcome === 'read'
        ? timeline.notAfterNow(
            new Date(deliveredAt!.getTime() + random.between(minuteMs, isQuick ? 30 * minuteMs : dayMs / 2)),
          )
        : null
    const failedAt = failure ? new Date(leftAt.getTime() + (failure.wasAccepted ? 5000 : 300)) : null
    // Ids ascend in the order of sending.
    const id = namedId(`message ${campaignId} ${contact.phone}`, startedAt.getTime() + 1000 + index)
    return {
      id,
      campaign_id: campaignId,
      contact_id: sending.contactIds.get(contact.phone) ?? null,
      phone: contact.phone,
      phone_key: contact.phone_key,
      name: contact.name,
      email: contact.email,
      custom_fields: contact.custom_fields,
      status: outcome,
      skip_reason: outcome === 'skipped' ? 'opted-out' : null,
      failure_code: failure?.code ?? null,
      failure_message: failure && failureMessages[failure.code],
      text: wasTried ? sending.render(contact) : null,
      attempts: wasTried ? 1 : 0,
      generation: 1,
      provider_message_id: wasTaken ? `wamid.${id}` : null,
      claim_id: null,
      claimed_at: null,
      called_at: null,
      reservation_id: outcome === 'skipped' ? null : sending.reservationId,
      unit: unitOf(outcome, wasTaken),
      sent_at: wasTaken ? leftAt : null,
      delivered_at: deliveredAt,
      read_at: readAt,
      failed_at: failedAt,
      created_at: new Date(startedAt.getTime() + 1000),
      updated_at: readAt ?? deliveredAt ?? failedAt ?? (wasTaken ? leftAt : startedAt),
    }
  })
  const taken = messages.filter((each) => each.sent_at !== null)
  return {
    messages,
    ledger: taken.map((each) => ledgerRow(campaignId, each)),
    touches: taken.map((each) => touchRow(campaignId, sending.campaignName, each)),
  }
}

/** What became of its unit of the quota: who was passed over never had one. */
function unitOf(outcome: Outcome, wasTaken: boolean): string {
  if (wasTaken) return 'committed'
  if (outcome === 'skipped') return 'none'
  return outcome === 'pending' ? 'reserved' : 'released'
}

interface Fate {
  outcome: Outcome
  failure: Failure | null
}

/** What becomes of each reachable phone, in the order in which they leave. */
function fatesOf(
  sending: Sending,
  reachable: readonly Pick<Contact, 'phone'>[],
  random: Random,
): Map<string, Fate> {
  const { sent, failures, rest, readerPhones } = sending
  const delivered = Math.round(sent * 0.92)
  const read = Math.round(sent * 0.7)
  const leaving = reachable.slice(0, sent + failures.length)
  const readers = leaving.filter((each) => readerPhones.has(each.phone))
  if (readers.length !== readerPhones.size)
    throw new Error('A reader of a campaign is not among those it went to')
  const others = random.shuffled(leaving.filter((each) => !readerPhones.has(each.phone)))
  const fates = new Map<string, Fate>(reachable.map((each) => [each.phone, { outcome: rest, failure: null }]))
  for (const [index, failure] of failures.entries()) {
    fates.set(others[index]!.phone, { outcome: 'failed', failure })
  }
  for (const [index, { phone }] of [...readers, ...others.slice(failures.length)].entries()) {
    fates.set(phone, {
      outcome: index < read ? 'read' : index < delivered ? 'delivered' : 'sent',
      failure: null,
    })
  }
  return fates
}

function ledgerRow(campaignId: string, message: SeedRow<'campaign_messages'>): SeedRow<'message_ledger'> {
  return {
    message_id: message.id,
    channel: 'messaging',
    source: 'messaging-campaign',
    source_id: campaignId,
    phone_key: message.phone_key,
    email: null,
    provider_message_id: message.provider_message_id,
    status: message.status,
    failure_code: (message.failure_code ?? null) as FailedAs | null,
    sent_at: message.sent_at!,
    delivered_at: message.delivered_at ?? null,
    read_at: message.read_at ?? null,
    failed_at: message.failed_at ?? null,
  }
}

function touchRow(
  campaignId: string,
  campaignName: string,
  message: SeedRow<'campaign_messages'>,
): SeedRow<'attribution_touches'> {
  return {
    id: namedId(`touch ${message.id}`, message.sent_at!.getTime()),
    source_type: 'messaging-campaign',
    source_id: campaignId,
    source_name: campaignName,
    automation_type: null,
    channel: 'messaging',
    message_id: message.id,
    phone_key: message.phone_key,
    email: null,
    coupon_code: null,
    click_token: null,
    product_id: null,
    touched_at: message.sent_at!,
    voided_at: message.failed_at ?? null,
  }
}
