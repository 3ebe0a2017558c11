/** Aurora's five sent or started campaigns with the outcome of each message, and opt-outs. */

import type { RootDatabase } from '#db/database'
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import campaigns from './data/campaigns.json' with { type: 'json' }
import { resolvePlaceholders } from './data.ts'
import type { DemoStore } from './demo-store.ts'
import type { AuroraLists, Contact, DemoList } from './lists.ts'
import { auroraTemplates } from './messaging.ts'
import { type CustomerGroups, campaignMoments, type OrderSource } from './order-plan.ts'
import { brazilian } from './people.ts'
import { Random } from './random.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'

type Recipient = Pick<Contact, 'phone' | 'phone_key' | 'name' | 'email' | 'custom_fields'> & { id?: string }
type MessageRow = SeedRow<'campaign_messages'>
type OptOut = SeedRow<'opt_outs'>
type SentKey = keyof ReturnType<typeof campaignMoments>
type FailureCode = keyof typeof failureMessages

interface SentCampaign {
  key: SentKey
  name: string
  list: 'regulars' | 'fair' | null
  /** How many of the list's first contacts get the campaign; default: all. */
  first?: number
  template: keyof typeof campaigns.contents
  by: string
  sent: number
  failures: FailureCode[]
  /** Status of the remaining recipients. */
  rest?: 'pending' | 'cancelled'
}

const sentCampaigns = campaigns.left as SentCampaign[]
const failureMessages = {
  'not-on-network': 'The phone is not on the network',
  undelivered: 'The message was taken, but could not be delivered',
  'frequency-capped': 'This person got the most marketing messages that the network allows for now',
}

interface Desk {
  db: RootDatabase
  store: DemoStore
  random: Random
  shop: DemoShop & { groups: CustomerGroups }
  lists: AuroraLists
  optOuts: OptOut[]
}

export async function seedAuroraCampaigns(
  db: RootDatabase,
  store: DemoStore,
  shop: DemoShop & { groups: CustomerGroups },
  lists: AuroraLists,
): Promise<void> {
  const desk: Desk = { db, store, random: new Random('aurora campaigns'), shop, lists, optOuts: [] }
  desk.optOuts = planOptOuts(desk)
  await insertRows(db, 'opt_outs', store.id, desk.optOuts)
  for (const each of sentCampaigns) await saveSent(desk, each)
}

const getCreatedAt = ({ timeline }: DemoStore, key: SentKey): Date =>
  new Date(campaignMoments(timeline)[key].getTime() - 20 * hourMs)
const toId = (store: DemoStore, key: SentKey): string =>
  idFromName(`campaign ${store.slug} ${key}`, getCreatedAt(store, key).getTime())

const listBuyers = (shop: DemoShop, source: OrderSource): string[] =>
  shop.attributed(source).map(({ plan }) => plan.customer.phone)

/** Plans eight opt-outs over 120 days. Five are replies, four of them to a campaign. Later campaigns skip these people. */
function planOptOuts({ store, shop, lists }: Desk): OptOut[] {
  const { timeline } = store
  const { veterans, regulars, others, fair } = shop.groups
  const converted = new Set(
    (['spring', 'fair', 'winter'] as const).flatMap((source) => listBuyers(shop, source)),
  )
  const quiet = (people: { phone: string }[]) => people.filter((each) => !converted.has(each.phone))
  const customersAtFair = new Set(fair.map((each) => each.phone))
  const visitors = lists.fair.contacts.filter((each) => !customersAtFair.has(each.phone))
  const [manual, answeredWinter, answeredSpring] = quiet(veterans)
  const [replied, alsoAnsweredSpring] = quiet(regulars)
  const optOut = (
    person: { phone: string } | undefined,
    at: Date,
    rest: Pick<OptOut, 'source'> & Partial<OptOut>,
  ) => {
    const { phone } = person!
    const id = idFromName(`opt-out ${store.slug} ${phone}`, at.getTime())
    return { id, phone, phone_key: phoneKey(phone), created_at: at, updated_at: at, ...rest }
  }
  const answer = (person: { phone: string } | undefined, to: SentKey, hours: number) => {
    const at = new Date(campaignMoments(timeline)[to].getTime() + hours * hourMs)
    return optOut(person, at, { source: 'reply', campaign_id: toId(store, to) })
  }
  const byPhone = 'Pediu por telefone para não receber campanhas'
  return [
    optOut(manual, timeline.ago(118), { source: 'manual', note: byPhone }),
    optOut(replied, timeline.ago(96), { source: 'reply' }),
    answer(answeredWinter, 'winter', 2),
    optOut(visitors[0], timeline.ago(62), { source: 'provider' }),
    answer(visitors[1], 'fair', 3),
    optOut(others[0], timeline.ago(30), { source: 'manual', note: 'Pedido por e-mail' }),
    answer(answeredSpring, 'spring', 1),
    answer(alsoAnsweredSpring, 'spring', 5),
  ]
}

/** The campaign's row, its messages, their ledger rows and touches. */
async function saveSent(desk: Desk, campaign: SentCampaign): Promise<void> {
  const { db, store, lists, random } = desk
  const { key, name, rest, sent, failures, template } = campaign
  const startedAt = campaignMoments(store.timeline)[key]
  const list: DemoList | null = campaign.list && lists[campaign.list]
  const recipients: Recipient[] = list ? list.contacts.slice(0, campaign.first) : shopVisitors(random)
  const id = toId(store, key)
  const reservationId = rest === 'pending' ? idFromName(`reservation ${id}`, startedAt.getTime()) : null
  const messages = buildMessages(desk, campaign, recipients, reservationId)
  const counted = (...statuses: string[]): number =>
    messages.filter((each) => statuses.includes(each.status)).length
  const last = messages.findLast((each) => each.sent_at)!.sent_at!
  const endedAt = new Date(last.getTime() + 1000)
  const pending = counted('pending')
  const row: SeedRow<'campaigns'> = {
    id,
    name,
    list_id: list?.id ?? null,
    list_name: list?.name ?? 'Clientes da loja física',
    content: resolvePlaceholders(store, campaigns.contents[template]),
    status: rest === 'pending' ? 'paused' : rest === 'cancelled' ? 'cancelled' : 'sent',
    pause_reason: rest === 'pending' ? 'manual' : null,
    audience_size: recipients.length,
    audience_opted_out: counted('skipped'),
    total: recipients.length,
    pending,
    sent: counted('sent', 'delivered', 'read'),
    delivered: counted('delivered', 'read'),
    read: counted('read'),
    failed: counted('failed'),
    skipped: counted('skipped'),
    cancelled: counted('cancelled'),
    attempted_since_start: sent + failures.length,
    failed_since_start: failures.filter((code) => code !== 'not-on-network').length,
    reservation_id: reservationId,
    snapshot_at: new Date(startedAt.getTime() + 1000),
    last_progress_at: last,
    started_at: startedAt,
    paused_at: rest === 'pending' ? endedAt : null,
    completed_at: rest === 'pending' ? null : endedAt,
    created_by: store.people[campaign.by]!,
    created_at: getCreatedAt(store, key),
    updated_at: endedAt,
  }
  if (reservationId) await reserveQuota(db, store, reservationId, pending, startedAt)
  await insertRows(db, 'campaigns', store.id, [row])
  await insertRows(db, 'campaign_messages', store.id, messages)
  await recordSent(db, store.id, messages, () => ({
    source: 'messaging-campaign',
    source_id: id,
    email: null,
    touch: { source_name: name },
  }))
}

/** Makes recipients of a list that has been deleted. */
const shopVisitors = (random: Random): Recipient[] =>
  Array.from({ length: 40 }, (_, index) => {
    const { phone, name, email } = brazilian(random, 6401 + index)
    return { phone, phone_key: phone, name, email, custom_fields: {} }
  })

interface Outcome {
  status: 'sent' | 'delivered' | 'read' | 'failed' | 'skipped' | 'pending' | 'cancelled'
  failure?: FailureCode
}

/**
 * Skips earlier opt-outs. 92 % of the sent messages are delivered and 70 % read, first those of people who ordered or
 * answered.
 */
function buildMessages(
  { store, shop, random, optOuts }: Desk,
  { key, template, sent, failures, rest = 'pending' }: SentCampaign,
  recipients: readonly Recipient[],
  reservationId: string | null,
): MessageRow[] {
  const { timeline } = store
  const startedAt = campaignMoments(timeline)[key]
  const campaignId = toId(store, key)
  const answered = optOuts.filter((each) => each.campaign_id === campaignId).map((each) => each.phone)
  const readers = new Set([
    ...(key === 'paused' || key === 'cancelled' ? [] : listBuyers(shop, key)),
    ...answered,
  ])
  const stopped = new Set(optOuts.filter((each) => each.created_at < startedAt).map((each) => each.phone))
  const shuffled = random.shuffled(recipients)
  const skipped = shuffled.filter(({ phone }) => stopped.has(phone))
  const reachable = shuffled.filter(({ phone }) => !stopped.has(phone))
  const leaving = reachable.slice(0, sent + failures.length)
  const others = random.shuffled(leaving.filter(({ phone }) => !readers.has(phone)))
  const first = leaving.filter(({ phone }) => readers.has(phone))
  if (first.length !== readers.size) throw new Error('A reader of a campaign is not among those it went to')
  const outcomes = new Map<Recipient, Outcome>(skipped.map((each) => [each, { status: 'skipped' }]))
  for (const [n, failure] of failures.entries()) outcomes.set(others[n]!, { status: 'failed', failure })
  for (const [n, each] of [...first, ...others.slice(failures.length)].entries()) {
    const isDelivered = n < Math.round(sent * 0.92)
    outcomes.set(each, { status: n < Math.round(sent * 0.7) ? 'read' : isDelivered ? 'delivered' : 'sent' })
  }
  return [...skipped, ...reachable].map((contact, n): MessageRow => {
    const { status, failure = null } = outcomes.get(contact) ?? { status: rest }
    const at = new Date(startedAt.getTime() + 2000 + n * 120)
    const isTaken = failure === 'undelivered' || ['sent', 'delivered', 'read'].includes(status)
    const isTried = isTaken || failure !== null
    const after = (since: Date, least: number, most: number) =>
      timeline.notAfterNow(new Date(since.getTime() + random.between(least, most)))
    const delivered_at = status === 'delivered' || status === 'read' ? after(at, 1500, 40_000) : null
    const longest = readers.has(contact.phone) ? 30 * minuteMs : dayMs / 2
    const read_at = status === 'read' ? after(delivered_at!, minuteMs, longest) : null
    const failed_at = failure ? new Date(at.getTime() + (isTaken ? 5000 : 300)) : null
    const { id: contact_id, phone, phone_key, name, email, custom_fields } = contact
    // Ids ascend in the order of sending.
    const id = idFromName(`message ${campaignId} ${phone}`, startedAt.getTime() + 1000 + n)
    return {
      id,
      campaign_id: campaignId,
      contact_id: contact_id ?? null,
      ...{ phone, phone_key, name, email, custom_fields, status },
      skip_reason: status === 'skipped' ? 'opted-out' : null,
      failure_code: failure,
      failure_message: failure && failureMessages[failure],
      text: isTried ? textFor(template, name ?? null) : null,
      attempts: isTried ? 1 : 0,
      generation: 1,
      provider_message_id: isTaken ? `wamid.${id}` : null,
      reservation_id: status === 'skipped' ? null : reservationId,
      unit: getQuotaState(status, isTaken),
      sent_at: isTaken ? at : null,
      delivered_at,
      read_at,
      failed_at,
      created_at: new Date(startedAt.getTime() + 1000),
      updated_at: read_at ?? delivered_at ?? failed_at ?? (isTaken ? at : startedAt),
    }
  })
}

/** State of the message's quota unit; a skipped message never had one. */
function getQuotaState(status: Outcome['status'], isTaken: boolean): string {
  if (isTaken) return 'committed'
  if (status === 'skipped') return 'none'
  return status === 'pending' ? 'reserved' : 'released'
}

/** Unsent messages of a paused campaign stay reserved in the cycle in which it started. */
async function reserveQuota(
  db: RootDatabase,
  store: DemoStore,
  id: string,
  units: number,
  at: Date,
): Promise<void> {
  const { starts_at: cycle_starts_at } = await db
    .updateTable('usage_cycles')
    .set({ reserved: units })
    .where('store_id', '=', store.id)
    .where('starts_at', '<=', at)
    .where('ends_at', '>', at)
    .returning('starts_at')
    .executeTakeFirstOrThrow()
  const held = { source: 'messaging-campaign', units, created_at: at, updated_at: at }
  await insertRows(db, 'usage_reservations', store.id, [{ id, cycle_starts_at, ...held }])
}

/** The body of a template for this person. */
function textFor(template: SentCampaign['template'], name: string | null): string {
  const { body } = auroraTemplates.find((each) => each.name === template)!
  const values = campaigns.contents[template].templateParameters.body.map((each) =>
    each.replace(/\{\{firstName\|(.*)\}\}/, (_all, fallback: string) => name?.split(' ')[0] ?? fallback),
  )
  return body.replace(/\{\{(\d)\}\}/g, (_all, number: string) => values[Number(number) - 1] ?? '')
}
