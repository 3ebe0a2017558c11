/** The demo's inbox: conversations over what automations and campaigns sent, tags, notes, quick replies, tiers. No message leaves. */
import { addWords } from '#operations/inbox/conversations/conversation-words'
import { defaultTierSettings, recalculate, showTiers } from '#operations/inbox/tiers/tiers'
import { plain, previewOf, searchTextOf } from '#operations/inbox/words'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { peopleFor, type Writer } from './inbox-people.ts'
import { type PlannedConversation, planInbox } from './inbox-plan.ts'
import {
  earlierRow,
  type Given,
  ledgerRow,
  messageRow,
  type Sample,
  type Stored,
  samples,
} from './inbox-rows.ts'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import { auroraPeople, type DemoStore } from './store.ts'
import { dayMs, hourMs, minuteMs } from './timeline.ts'

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

const templatesInAll = 40

/** 60 conversations, 640 messages, 30 of them of automations and campaigns: after both. */
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
  const shownTemplates = people.filter(({ earlier }) => earlier?.type === 'template').length
  const plans = planInbox(timeline, random, templatesInAll - shownTemplates)
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

async function addConversation(tx: Context, store: DemoStore, given: Given): Promise<string> {
  const { id, person, plan, i } = given
  const { messages } = plan
  const [first, last] = [messages[0]!, messages.at(-1)!]
  const contactId = namedId(`contact ${store.id} ${i}`, first.at.getTime())
  const key = phoneKey(person.phone)
  const inbound = messages.filter((each) => each.direction === 'inbound' && each.type !== 'reaction')
  const rows = [
    ...messages.map((message, n) => messageRow(store, given, message, n)),
    ...(person.earlier ? [earlierRow(id, person.earlier)] : []),
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
      settled_at: closedAt,
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
      { ...known, earlier: null },
      { name: 'Grace Hayes', phone: '+19175550142', earlier: null },
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
