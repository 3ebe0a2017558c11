/** The demo's inbox: conversations over what the campaigns sent, tags, notes, quick replies, tiers. No message leaves. */
import { addWords } from '#operations/inbox/lib/conversation-words'
import { defaultTierSettings, recalculate, showTiers } from '#operations/inbox/lib/tiers'
import { plain, previewOf, searchTextOf } from '#operations/inbox/lib/words'
import { files } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/ids'
import { phoneKey } from '#runtime/phone'
import { type PlannedConversation, type PlannedMessage, planInbox } from './inbox-plan.ts'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import { auroraPeople, type DemoStore } from './store.ts'
import { dayMs, hourMs, minuteMs } from './timeline.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const samples = {
  image: { fileName: 'foto.png', contentType: 'image/png', bytes: Buffer.from(png, 'base64') },
  audio: {
    fileName: 'audio.amr',
    contentType: 'audio/amr',
    bytes: Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(10, 0x7c)]),
  },
  document: { fileName: 'comprovante.txt', contentType: 'text/plain', bytes: Buffer.from('Comprovante\n') },
}
type Sample = keyof typeof samples

const tagColours = {
  VIP: '#ca8a04',
  Exchange: '#0e7490',
  Delivery: '#2563eb',
  Complaint: '#dc2626',
  Wholesale: '#7c3aed',
  'Waiting payment': '#ea580c',
}
const replies: [shortcut: string, title: string, text: string][] = [
  ['ola', 'Saudação', 'Olá {{firstName|tudo bem}}! Aqui é {{agentName}}, da {{storeName}}.'],
  ['prazo', 'Prazo de entrega', 'O prazo é de 3 a 5 dias úteis após o envio.'],
  [
    'rastreio',
    'Rastreio',
    'Seu pedido {{orderNumber}} está a caminho: {{trackingUrl|o link chega em breve}}',
  ],
  ['pedido', 'Resumo do pedido', 'O pedido {{orderNumber}}, de {{orderTotal}}, está {{orderStatus}}.'],
  ['troca', 'Troca', 'A troca é gratuita em até 30 dias: {{storeUrl}}'],
  ['pix', 'Pix', 'Aceitamos Pix, cartão e boleto.'],
  ['medidas', 'Tabela de medidas', 'Aqui está a nossa tabela de medidas.'],
  ['obrigado', 'Obrigado', 'Obrigado pelo contato, {{firstName|volte sempre}}!'],
]

/** 60 conversations, 640 messages, 30 of them of campaigns. */
export async function seedAuroraInbox(
  ctx: Context,
  store: DemoStore,
  customers: readonly Customer[],
  templateIds: ReadonlyMap<string, number>,
): Promise<void> {
  const { timeline } = store
  const random = new Random('aurora inbox')
  const stored = await storeFiles(ctx, store)
  const people = await peopleFor(ctx, customers)
  const plans = planInbox(timeline, random)
  const templateId = templateIds.values().next().value ?? null
  await ctx.transaction(async (tx) => {
    const enabledAt = timeline.ago(90)
    await insertRows(tx.system, 'inbox_settings', store.id, [
      {
        is_enabled: true,
        enabled_at: enabledAt,
        last_inbound_at: timeline.ago(0.01),
        is_cut_off: false,
        tier_settings: defaultTierSettings,
        tier_settings_updated_at: timeline.ago(60),
        created_at: enabledAt,
        updated_at: timeline.ago(60),
      },
    ])
    const contactIds: string[] = []
    for (const [i, plan] of plans.entries()) {
      const person = people[i]!
      const id = namedId(`conversation ${store.id} ${i}`, plan.messages[0]!.at.getTime())
      contactIds.push(await addConversation(tx, store, { id, person, plan, i, stored, templateId }))
    }
    await addTeamwork(tx, store, plans, stored, random)
    await recalculate(tx, defaultTierSettings, contactIds)
    for (const [n, tier] of ['platinum', 'silver'].entries()) {
      await tx.db
        .updateTable('contacts')
        .set({ tier, tier_source: 'manual' })
        .where('id', '=', contactIds[20 + n]!)
        .execute()
    }
    await showTiers(tx, contactIds.slice(20, 22))
  })
}

type Stored = Record<Sample, { key: string; url: string }>

async function storeFiles(ctx: Context, store: DemoStore): Promise<Stored> {
  const put = async (name: Sample) => {
    const { fileName, contentType, bytes } = samples[name]
    const id = namedId(`inbox file ${store.id} ${name}`, store.timeline.now.getTime())
    const purpose = name === 'image' ? 'inbox-image' : 'inbox-received'
    const file = await files.put(ctx, purpose, {
      id,
      fileName,
      contentType,
      visibility: 'private',
      content: bytes,
    })
    await files.setUses(ctx, `inbox-demo:${name}`, [{ url: file.url, purpose, field: name }])
    return file
  }
  return { image: await put('image'), audio: await put('audio'), document: await put('document') }
}

interface Writer {
  name: string
  phone: string
  /** A campaign's message to them, for the first thirty. */
  campaign: { id: string; text: string | null; at: Date; status: string; providerId: string | null } | null
}

/** 25 with orders first; of every second one a campaign's message is shown; the last one has opted out. */
async function peopleFor(ctx: Context, customers: readonly Customer[]): Promise<Writer[]> {
  const buyers = new Set(
    (await ctx.db.selectFrom('orders').select('phone_key').distinct().execute()).map((row) => row.phone_key),
  )
  const sent = await ctx.db
    .selectFrom('campaign_messages')
    .select(['id', 'phone_key', 'text', 'sent_at', 'status', 'provider_message_id', 'name', 'phone'])
    .where('sent_at', 'is not', null)
    .where('status', 'in', ['delivered', 'read'])
    .orderBy('id')
    .execute()
  const stopped = await ctx.db.selectFrom('opt_outs').select('phone_key').execute()
  const isStopped = new Set(stopped.map((row) => row.phone_key))
  const campaignOf = new Map(sent.map((row) => [row.phone_key, row]))
  const known = new Map<string, { name: string; phone: string }>()
  for (const { name, phone } of customers) known.set(phoneKey(phone), { name, phone })
  for (const row of sent)
    if (row.name && !known.has(row.phone_key)) known.set(row.phone_key, { name: row.name, phone: row.phone })
  const all = [...known].filter(([key]) => !isStopped.has(key))
  const told =
    (has: boolean) =>
    ([key]: [string, unknown]) =>
      campaignOf.has(key) === has
  const withOrders = all.filter(([key]) => buyers.has(key))
  const without = all.filter(([key]) => !buyers.has(key))
  const chosen = [
    ...withOrders.filter(told(true)).slice(0, 15),
    ...withOrders.filter(told(false)).slice(0, 10),
    ...without.filter(told(true)).slice(0, 15),
  ]
  const used = new Set(chosen.map(([key]) => key))
  chosen.push(...without.filter(([key]) => !used.has(key)).slice(0, 60 - chosen.length))
  if (chosen.length < 60)
    throw new Error(`The demo has ${chosen.length} people for its inbox, which takes 60`)
  let shown = 0
  return chosen.map(([key, person]) => {
    const row = shown < 30 ? campaignOf.get(key) : undefined
    if (row) shown += 1
    return {
      ...person,
      campaign: row
        ? {
            id: row.id,
            text: row.text,
            at: row.sent_at!,
            status: row.status,
            providerId: row.provider_message_id,
          }
        : null,
    }
  })
}

interface Given {
  id: string
  person: Writer
  plan: PlannedConversation
  i: number
  stored: Stored
  templateId: number | null
}

async function addConversation(tx: Context, store: DemoStore, given: Given): Promise<string> {
  const { id, person, plan, i } = given
  const { messages } = plan
  const [first, last] = [messages[0]!, messages.at(-1)!]
  const contactId = namedId(`contact ${store.id} ${i}`, first.at.getTime())
  const key = phoneKey(person.phone)
  const inbound = messages.filter((each) => each.direction === 'inbound' && each.type !== 'reaction')
  const rows = [
    ...messages.map((message, n) => messageRow(store, given, message, n)),
    ...(person.campaign ? [campaignRow(id, person.campaign)] : []),
  ]
  const assignee = plan.assignee === null ? null : auroraPeople.find((each) => each.key === plan.assignee)!
  const closedAt = plan.isOpen ? null : new Date(last.at.getTime() + 30 * minuteMs)
  const waiting = plan.isWaiting
    ? messages[messages.findLastIndex((each) => each.direction === 'outbound') + 1]!
    : null
  await insertRows(tx.system, 'contacts', store.id, [
    {
      id: contactId,
      phone: person.phone,
      phone_key: key,
      profile_name: person.name,
      order_name: null,
      given_name: null,
      search_text: searchTextOf([person.name]),
      tier: null,
      tier_source: 'automatic',
      purchase_count: 0,
      total_spent: '0',
      created_at: first.at,
      updated_at: last.at,
    } as SeedRow<'contacts'>,
  ])
  await insertRows(tx.system, 'conversations', store.id, [
    {
      id,
      contact_id: contactId,
      status: plan.isOpen ? 'open' : 'closed',
      unread_count: plan.unread,
      pinned_at: plan.isPinned ? new Date(last.at.getTime() + minuteMs) : null,
      assignee_id: assignee && store.people[assignee.key]!,
      assignee_name: assignee?.name ?? null,
      last_message_id: rows[messages.length - 1]!.id,
      last_message_at: last.at,
      last_message_direction: last.direction,
      last_message_type: last.type,
      last_message_status: last.direction === 'inbound' ? 'received' : rows[messages.length - 1]!.status,
      last_message_preview: previewOf(last.type, last.text),
      last_inbound_at: inbound.at(-1)!.at,
      waiting_since: waiting?.at ?? null,
      message_count: rows.length,
      closed_at: closedAt,
      created_at: first.at,
      updated_at: closedAt ?? last.at,
    } as SeedRow<'conversations'>,
  ])
  await insertRows(tx.system, 'inbox_messages', store.id, rows)
  await addWords(tx, id, rows)
  await insertRows(tx.system, 'contact_windows', store.id, [
    { phone_key: key, last_inbound_at: inbound.at(-1)!.at },
  ])
  const left = messages.flatMap((message, n) =>
    message.direction === 'outbound' && message.failure === null ? [ledgerRow(rows[n]!, id, key)] : [],
  )
  await insertRows(tx.system, 'message_ledger', store.id, left)
  return contactId
}

type MessageRow = SeedRow<'inbox_messages'>

function messageRow(
  store: DemoStore,
  { id, i, stored, templateId }: Given,
  message: PlannedMessage,
  n: number,
): MessageRow {
  const { at, direction, type, text, failure } = message
  const isInbound = direction === 'inbound'
  const writer = auroraPeople[i % auroraPeople.length]!
  const sample = type in samples ? samples[type as Sample] : null
  const messageId = namedId(`inbox message ${id} ${n}`, at.getTime())
  const hasLeft = !isInbound && failure === null
  const after = (ms: number) => (hasLeft ? store.timeline.notAfterNow(new Date(at.getTime() + ms)) : null)
  return {
    id: messageId,
    conversation_id: id,
    direction,
    source: isInbound ? 'customer' : 'agent',
    type,
    text,
    media: sample && {
      mediaId: null,
      ...stored[type as Sample],
      contentType: sample.contentType,
      fileName: sample.fileName,
      size: sample.bytes.length,
      status: 'ready',
    },
    content:
      type === 'location'
        ? { latitude: -23.5614, longitude: -46.6559, name: 'Avenida Paulista', address: null }
        : type === 'reaction'
          ? { emoji: '❤️', messageId: null }
          : null,
    officialapi_template_id: type === 'template' ? templateId : null,
    status: isInbound ? 'received' : failure ? 'failed' : 'read',
    error_code: failure,
    error_message:
      failure === 'not-on-network'
        ? 'The phone is not on the network'
        : failure && 'The window closed before the message could leave: send an approved template',
    provider_message_id: isInbound || hasLeft ? `wamid.demo-${messageId}` : null,
    sent_by: isInbound ? null : store.people[writer.key]!,
    sent_by_name: isInbound ? null : writer.name,
    attempts: isInbound ? 0 : 1,
    occurred_at: at,
    sent_at: after(800),
    delivered_at: after(2500),
    read_at: after(40_000),
    failed_at: failure ? at : null,
    created_at: at,
    updated_at: at,
  } as MessageRow
}

const campaignRow = (conversationId: string, sent: NonNullable<Writer['campaign']>): MessageRow =>
  ({
    id: sent.id,
    conversation_id: conversationId,
    direction: 'outbound',
    source: 'campaign',
    type: 'text',
    text: sent.text,
    media: null,
    content: null,
    officialapi_template_id: null,
    status: sent.status,
    error_code: null,
    error_message: null,
    provider_message_id: sent.providerId,
    sent_by: null,
    sent_by_name: null,
    attempts: 1,
    occurred_at: sent.at,
    sent_at: sent.at,
    delivered_at: sent.at,
    read_at: sent.status === 'read' ? sent.at : null,
    failed_at: null,
    created_at: sent.at,
    updated_at: sent.at,
  }) as MessageRow

const ledgerRow = (row: MessageRow, conversationId: string, key: string): SeedRow<'message_ledger'> =>
  ({
    message_id: row.id,
    channel: 'messaging',
    source: 'inbox',
    source_id: conversationId,
    phone_key: key,
    email: null,
    provider_message_id: row.provider_message_id,
    status: 'read',
    failure_code: null,
    sent_at: row.sent_at!,
    delivered_at: row.delivered_at,
    read_at: row.read_at,
    failed_at: null,
  }) as SeedRow<'message_ledger'>

/** Six tags on 35 conversations, 20 notes by all three, 8 quick replies. */
async function addTeamwork(
  tx: Context,
  store: DemoStore,
  plans: readonly PlannedConversation[],
  stored: Stored,
  random: Random,
): Promise<void> {
  const { timeline, people } = store
  const conversationId = (i: number) =>
    namedId(`conversation ${store.id} ${i}`, plans[i]!.messages[0]!.at.getTime())
  const madeAt = timeline.ago(85)
  const tags = Object.entries(tagColours).map(([name, color]) => ({
    id: namedId(`inbox tag ${store.id} ${name}`, madeAt.getTime()),
    name,
    color,
    created_at: madeAt,
    updated_at: madeAt,
  }))
  await insertRows(tx.system, 'inbox_tags', store.id, tags)
  const tagged = Array.from({ length: 35 }, (_, i) => ({
    conversation_id: conversationId((i * 17) % 60),
    tag_id: tags[i % tags.length]!.id,
    created_at: timeline.ago(1),
  }))
  await insertRows(tx.system, 'inbox_conversation_tags', store.id, tagged)
  const texts = [
    'Cliente antigo, responder com prioridade.',
    'Aguardando o comprovante.',
    'Troca combinada para sexta.',
  ]
  const notes = Array.from({ length: 20 }, (_, n) => {
    const author = auroraPeople[n % auroraPeople.length]!
    const at = new Date(plans[n]!.messages.at(-1)!.at.getTime() + minuteMs)
    return {
      id: namedId(`inbox note ${store.id} ${n}`, at.getTime()),
      conversation_id: conversationId(n),
      text: random.pick(texts),
      mentions: [],
      author_id: people[author.key]!,
      author_name: author.name,
      created_at: timeline.notAfterNow(at),
    }
  })
  await insertRows(tx.system, 'inbox_notes', store.id, notes)
  const [olivia] = auroraPeople
  const rows = replies.map(([shortcut, title, text], n) => ({
    id: namedId(`quick reply ${store.id} ${shortcut}`, madeAt.getTime()),
    shortcut,
    title,
    text,
    media_url: shortcut === 'medidas' ? stored.image.url : null,
    usage_count: 40 - n * 4,
    last_used_at: new Date(timeline.now.getTime() - n * 5 * hourMs - dayMs / 4),
    created_by: people[olivia!.key]!,
    created_by_name: olivia!.name,
    created_at: madeAt,
    updated_at: madeAt,
  }))
  await insertRows(tx.system, 'inbox_quick_replies', store.id, rows)
  await files.setUses(tx, `inbox-quick-reply:${rows[6]!.id}`, [
    { url: stored.image.url, purpose: 'inbox-image', field: plain('image') },
  ])
}

/** Two conversations, one with the phone of a demo contact of Aurora's; the inbox is off, its number gone. */
export async function seedBorealisInbox(
  ctx: Context,
  store: DemoStore,
  known: { name: string; phone: string },
): Promise<void> {
  const { timeline, people } = store
  const at = timeline.ago(40)
  await ctx.transaction(async (tx) => {
    await insertRows(tx.system, 'inbox_settings', store.id, [
      {
        is_enabled: true,
        enabled_at: timeline.ago(80),
        last_inbound_at: at,
        is_cut_off: true,
        tier_settings: null,
        tier_settings_updated_at: null,
        created_at: timeline.ago(80),
        updated_at: timeline.ago(80),
      },
    ])
    const writers: Writer[] = [
      { ...known, campaign: null },
      { name: 'Grace Hayes', phone: '+19175550142', campaign: null },
    ]
    for (const [i, person] of writers.entries()) {
      const plan: PlannedConversation = {
        isOpen: true,
        isPinned: false,
        unread: 1,
        isWaiting: true,
        assignee: null,
        messages: [
          {
            direction: 'inbound',
            type: 'text',
            text: 'Hi! Do you ship to Chicago?',
            at: new Date(at.getTime() + i * hourMs),
            failure: null,
          },
        ],
      }
      const id = namedId(`conversation ${store.id} ${i}`, plan.messages[0]!.at.getTime())
      const stored = {} as Stored
      await addConversation(tx, store, { id, person, plan, i, stored, templateId: null })
    }
    const bruno = Object.values(people)[0]!
    await insertRows(tx.system, 'inbox_tags', store.id, [
      {
        id: namedId(`inbox tag ${store.id}`, at.getTime()),
        name: 'VIP',
        color: '#ca8a04',
        created_at: at,
        updated_at: at,
      },
    ])
    await insertRows(tx.system, 'inbox_quick_replies', store.id, [
      {
        id: namedId(`quick reply ${store.id}`, at.getTime()),
        shortcut: 'hi',
        title: 'Greeting',
        text: 'Hi {{firstName|there}}, thanks for writing to {{storeName}}!',
        media_url: null,
        usage_count: 2,
        last_used_at: at,
        created_by: bruno,
        created_by_name: 'Bruno Keller',
        created_at: at,
        updated_at: at,
      },
    ])
  })
}
