/** Aurora's nine campaigns and who asked it to stop; Borealis's one draft. */
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { type Failure, makeMessages, type Sending } from './campaign-messages.ts'
import type { AuroraLists, Contact, DemoList } from './lists.ts'
import { uploaded } from './media.ts'
import { chooseOptOuts, type DemoOptOut, seedOptOuts } from './opt-outs.ts'
import { type CustomerGroups, campaignMoments, type OrderSource } from './order-plan.ts'
import { brazilian } from './people.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { auroraTemplates } from './templates.ts'
import { dayMs, hourMs, minuteMs } from './timeline.ts'

type CampaignRow = SeedRow<'campaigns'>

interface Content {
  type: 'text' | 'template'
  text: string | null
  optOutText: string | null
  officialapiTemplateId: number | null
  templateParameters: { header: string[]; body: string[]; buttons: string[] }
  media: { type: 'image'; url: string; fileName: string | null } | null
}

type TemplateName = 'black_friday' | 'welcome_back' | 'spring_pause'

interface Desk {
  db: RootDatabase
  store: DemoStore
  random: Random
  shop: DemoShop
  lists: AuroraLists
  optOuts: DemoOptOut[]
  content(template: TemplateName): Content
}

const undelivered: Failure = { code: 'undelivered', wasAccepted: true }
const notOnNetwork: Failure = { code: 'not-on-network', wasAccepted: false }
const capped: Failure = { code: 'frequency-capped', wasAccepted: false }

/** What the templates' bodies are filled with. */
const bodyParameters: Record<TemplateName, string[]> = {
  black_friday: ['{{firstName|amigo}}', 'BLACK20'],
  welcome_back: ['{{firstName|cliente}}'],
  spring_pause: ['{{firstName|cliente}}'],
}

const names = {
  winter: 'Saudades de você',
  fair: 'Obrigado pela visita à feira',
  spring: 'Black Friday para clientes recorrentes',
  paused: 'Novidades para quem veio à feira',
  cancelled: 'Reabertura da loja física',
}
type LeftKey = keyof typeof names

/**
 * Three sent, one each scheduled, paused, cancelled and failed, two drafts; their messages, and eight opt-outs.
 * `templateIds` by name.
 */
export async function seedAuroraCampaigns(
  db: RootDatabase,
  store: DemoStore,
  shop: DemoShop & { groups: CustomerGroups },
  lists: AuroraLists,
  templateIds: ReadonlyMap<string, number>,
): Promise<void> {
  const ids = (key: 'winter' | 'fair' | 'spring') => idOf(store, key)
  const campaigns = { winter: ids('winter'), fair: ids('fair'), spring: ids('spring') }
  const optOuts = chooseOptOuts({ store, shop, lists, campaigns })
  await seedOptOuts(db, store, optOuts)
  const content = (template: TemplateName): Content => ({
    ...textContent(null),
    type: 'template',
    officialapiTemplateId: templateIds.get(template)!,
    templateParameters: { header: [], body: bodyParameters[template], buttons: [] },
    media:
      template === 'black_friday' ? { type: 'image', url: uploaded(store, template), fileName: null } : null,
  })
  const desk: Desk = { db, store, random: new Random('aurora campaigns'), shop, lists, optOuts, content }
  const { regulars, fair } = lists
  await saveLeft(desk, 'winter', 'welcome_back', regulars, regulars.contacts.slice(0, 60), {
    sent: 57,
    failures: [undelivered, notOnNetwork],
  })
  await saveLeft(desk, 'fair', 'welcome_back', fair, fair.contacts, {
    sent: 76,
    failures: [undelivered, notOnNetwork, capped],
  })
  await saveLeft(desk, 'spring', 'black_friday', regulars, regulars.contacts, {
    sent: 142,
    failures: [undelivered, undelivered, notOnNetwork, notOnNetwork, capped],
  })
  await saveLeft(desk, 'paused', 'welcome_back', fair, fair.contacts, { sent: 50, rest: 'pending' })
  await saveLeft(desk, 'cancelled', 'welcome_back', null, shopVisitors(desk.random), {
    sent: 12,
    rest: 'cancelled',
  })
  await insertRows(db, 'campaigns', store.id, unsent(desk))
}

/** One draft. */
export async function seedBorealisCampaign(
  db: RootDatabase,
  store: DemoStore,
  list: DemoList,
): Promise<void> {
  const createdAt = store.timeline.ago(9)
  const name = 'Holiday preview'
  const content = textContent('Hi {{firstName|there}}, our holiday box is here. Want the first look?')
  await insertRows(db, 'campaigns', store.id, [
    campaignRow(store, { name, list, content, createdAt, by: 'bruno' }),
  ])
}

const textContent = (text: string | null): Content => ({
  type: 'text',
  text,
  optOutText: text === null ? null : 'Responda SAIR para não receber mais',
  officialapiTemplateId: null,
  templateParameters: { header: [], body: [], buttons: [] },
  media: null,
})

const createdAtOf = (store: DemoStore, key: LeftKey): Date =>
  new Date(campaignMoments(store.timeline)[key].getTime() - 20 * hourMs)
const idOf = (store: DemoStore, key: LeftKey): string =>
  campaignId(store, names[key], createdAtOf(store, key))
const campaignId = (store: DemoStore, name: string, createdAt: Date): string =>
  namedId(`campaign ${store.slug} ${name}`, createdAt.getTime())

type Visitor = Pick<Contact, 'phone' | 'phone_key' | 'name' | 'email' | 'custom_fields'> & { id?: string }

/** Of a list that was deleted since. */
const shopVisitors = (random: Random): Visitor[] =>
  Array.from({ length: 40 }, (_, index) => {
    const { phone, name, email } = brazilian(random, 6401 + index)
    return { phone, phone_key: phone, name, email, custom_fields: {} }
  })

interface Outcome {
  sent: number
  failures?: Failure[]
  rest?: Sending['rest']
}

/** A campaign that left, or began to: its row, its messages, their ledger rows and touches. */
async function saveLeft(
  { db, store, random, shop, optOuts, content }: Desk,
  key: LeftKey,
  template: TemplateName,
  list: DemoList | null,
  recipients: readonly Visitor[],
  { sent, failures = [], rest }: Outcome,
): Promise<void> {
  const startedAt = campaignMoments(store.timeline)[key]
  const id = idOf(store, key)
  const reservationId = rest === 'pending' ? namedId(`reservation ${id}`, startedAt.getTime()) : null
  const skipped = optOuts.filter((each) => each.at < startedAt).map((each) => each.phone)
  const readers = [
    ...(key === 'paused' || key === 'cancelled' ? [] : buyerPhones(shop, key)),
    ...optOuts.filter((each) => each.campaignId === id).map((each) => each.phone),
  ]
  const left = makeMessages(
    {
      campaignId: id,
      campaignName: names[key],
      startedAt,
      recipients,
      contactIds: new Map(recipients.flatMap((each) => (each.id ? [[each.phone, each.id]] : []))),
      skippedPhones: new Set(skipped),
      readerPhones: new Set(readers),
      sent,
      failures,
      rest: rest ?? 'pending',
      reservationId,
      render: (contact) => rendered(template, contact.name ?? null),
    },
    store.timeline,
    random,
  )
  const last = left.ledger.at(-1)!.sent_at
  const counted = (...statuses: string[]): number =>
    left.messages.filter((each) => statuses.includes(each.status)).length
  const row: CampaignRow = {
    ...campaignRow(store, {
      name: names[key],
      list,
      content: content(template),
      createdAt: createdAtOf(store, key),
      by: key === 'fair' ? 'marco' : 'olivia',
    }),
    list_name: list?.name ?? 'Clientes da loja física',
    status: rest === 'pending' ? 'paused' : rest === 'cancelled' ? 'cancelled' : 'sent',
    pause_reason: rest === 'pending' ? 'manual' : null,
    audience_size: recipients.length,
    audience_opted_out: counted('skipped'),
    total: recipients.length,
    pending: counted('pending'),
    sent: counted('sent', 'delivered', 'read'),
    delivered: counted('delivered', 'read'),
    read: counted('read'),
    failed: counted('failed'),
    skipped: counted('skipped'),
    cancelled: counted('cancelled'),
    attempted_since_start: sent + failures.length,
    failed_since_start: failures.filter((each) => each.code !== 'not-on-network').length,
    reservation_id: reservationId,
    snapshot_at: new Date(startedAt.getTime() + 1000),
    last_progress_at: last,
    started_at: startedAt,
    paused_at: rest === 'pending' ? new Date(last.getTime() + 1000) : null,
    completed_at: rest === 'pending' ? null : new Date(last.getTime() + 1000),
    updated_at: new Date(last.getTime() + 1000),
  }
  if (reservationId) await holdUnits(db, store, reservationId, row.pending!, startedAt)
  await insertRows(db, 'campaigns', store.id, [row])
  await insertRows(db, 'campaign_messages', store.id, left.messages)
  await insertRows(db, 'message_ledger', store.id, left.ledger)
  await insertRows(db, 'attribution_touches', store.id, left.touches)
}

const buyerPhones = (shop: DemoShop, source: OrderSource): string[] =>
  shop.attributed(source).map(({ plan }) => plan.customer.phone)

/** What a paused campaign has yet to send stays reserved in the cycle it began in. */
async function holdUnits(
  db: RootDatabase,
  store: DemoStore,
  id: string,
  units: number,
  at: Date,
): Promise<void> {
  const cycle = await db
    .updateTable('usage_cycles')
    .set({ reserved: units })
    .where('store_id', '=', store.id)
    .where('starts_at', '<=', at)
    .where('ends_at', '>', at)
    .returning('starts_at')
    .executeTakeFirstOrThrow()
  await insertRows(db, 'usage_reservations', store.id, [
    {
      id,
      cycle_starts_at: cycle.starts_at,
      source: 'messaging-campaign',
      units,
      created_at: at,
      updated_at: at,
    },
  ])
}

/** Scheduled, failed, and two drafts. */
function unsent({ store, lists, content }: Desk): CampaignRow[] {
  const { timeline } = store
  const failedAt = timeline.localTime(11, 9)
  const scheduled = campaignRow(store, {
    name: 'Prévia de Natal para VIPs',
    list: lists.vip,
    content: content('black_friday'),
    createdAt: timeline.ago(1.2),
    by: 'olivia',
  })
  const failed = campaignRow(store, {
    name: 'Primavera na Aurora',
    list: lists.regulars,
    content: content('spring_pause'),
    createdAt: new Date(failedAt.getTime() - dayMs),
    by: 'marco',
  })
  return [
    { ...scheduled, status: 'scheduled', scheduled_at: timeline.localTime(-3, 10) },
    {
      ...failed,
      status: 'failed',
      failure_reason: 'template-unavailable',
      started_at: failedAt,
      completed_at: new Date(failedAt.getTime() + minuteMs / 2),
      updated_at: new Date(failedAt.getTime() + minuteMs / 2),
    },
    campaignRow(store, {
      name: 'Pesquisa com assinantes',
      list: lists.popup,
      content: textContent('Oi {{firstName|tudo bem}}, o que você gostaria de ver na Aurora no ano que vem?'),
      createdAt: timeline.ago(6),
      by: 'marco',
    }),
    campaignRow(store, {
      name: 'Últimas horas da Black Friday',
      list: lists.regulars,
      content: content('black_friday'),
      createdAt: timeline.ago(0.8),
      by: 'olivia',
    }),
  ]
}

interface NewCampaign {
  name: string
  list: DemoList | null
  content: Content
  createdAt: Date
  /** Which of the store's people made it. */
  by: string
}

function campaignRow(store: DemoStore, { name, list, content, createdAt, by }: NewCampaign): CampaignRow {
  return {
    id: campaignId(store, name, createdAt),
    name,
    list_id: list?.id ?? null,
    list_name: list?.name ?? null,
    content,
    send_window: null,
    status: 'draft',
    pause_reason: null,
    failure_reason: null,
    audience_size: null,
    audience_opted_out: null,
    total: 0,
    pending: 0,
    sent: 0,
    delivered: 0,
    read: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    attempted_since_start: 0,
    failed_since_start: 0,
    reservation_id: null,
    snapshot_at: null,
    last_progress_at: null,
    scheduled_at: null,
    started_at: null,
    paused_at: null,
    completed_at: null,
    created_by: store.people[by]!,
    created_at: createdAt,
    updated_at: createdAt,
  }
}

/** The body of a template as this person reads it. */
function rendered(template: TemplateName, name: string | null): string {
  const { body } = auroraTemplates.find((each) => each.name === template)!
  const values = bodyParameters[template].map((each) =>
    each.replace(/\{\{firstName\|(.*)\}\}/, (_all, fallback: string) => name?.split(' ')[0] ?? fallback),
  )
  return body.replace(/\{\{(\d)\}\}/g, (_all, number: string) => values[Number(number) - 1] ?? '')
}
