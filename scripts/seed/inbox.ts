/** The demo's inbox: conversations about automation and campaign messages, tags, notes, tiers. Sends nothing. */

import { addWords } from '#operations/inbox/conversations/conversation-words'
import { copyTiersToConversations, defaultTierSettings, recalculate } from '#operations/inbox/tiers/tiers'
import { buildPreview, buildSearchText } from '#operations/inbox/words'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import texts from './data/texts.json' with { type: 'json' }
import type { DemoStore } from './demo-store.ts'
import { chooseWriters, type Earlier, type Writer } from './inbox-people.ts'
import { type PlannedConversation, type PlannedMessage, planInbox } from './inbox-plan.ts'
import { getUploadUrl } from './media.ts'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import { auroraPeople } from './store.ts'

type MessageRow = SeedRow<'inbox_messages'>

const templatesInAll = 40

/** 60 conversations, 640 messages, 30 of them from automations and campaigns; seeded after both. */
export async function seedAuroraInbox(
  ctx: Context,
  store: DemoStore,
  customers: readonly Customer[],
): Promise<void> {
  const random = new Random('aurora inbox')
  const people = await chooseWriters(ctx, customers)
  const shownTemplates = people.filter(({ earlier }) => earlier?.type === 'template').length
  const plans = planInbox(store.timeline, random, templatesInAll - shownTemplates)
  await ctx.transaction(async (tx) => {
    const contactIds = await saveConversations(tx, store, plans, people)
    await addTeamwork(tx, store, plans, random)
    await recalculate(tx, defaultTierSettings, contactIds)
    for (const [n, tier] of ['platinum', 'silver'].entries()) {
      const change = { tier, tier_source: 'manual' as const }
      await tx.db
        .updateTable('contacts')
        .set(change)
        .where('id', '=', contactIds[20 + n]!)
        .execute()
    }
    await copyTiersToConversations(tx, contactIds.slice(20, 22))
  })
}

const toId = (
  store: DemoStore,
  kind: 'conversation' | 'contact',
  { messages }: PlannedConversation,
  i: number,
) => idFromName(`${kind} ${store.id} ${i}`, messages[0]!.at.getTime())

/** Returns the ids of the contacts. */
async function saveConversations(
  tx: Context,
  store: DemoStore,
  plans: readonly PlannedConversation[],
  people: readonly Writer[],
): Promise<string[]> {
  const contacts: SeedRow<'contacts'>[] = []
  const conversations: SeedRow<'conversations'>[] = []
  const windows: SeedRow<'contact_windows'>[] = []
  const messages = plans.map((plan, i) => {
    const { name, phone, earlier } = people[i]!
    const [first, last] = [plan.messages[0]!, plan.messages.at(-1)!]
    const [id, contactId] = [toId(store, 'conversation', plan, i), toId(store, 'contact', plan, i)]
    const phone_key = phoneKey(phone)
    const rows = plan.messages.map((message, n) => messageRow(store, id, i, message, n))
    const { length } = plan.messages
    const spoken = plan.messages.findLast((each) => each.direction === 'inbound' && each.type !== 'reaction')!
    const answeredAt = plan.messages.findLastIndex((each) => each.direction === 'outbound')
    const assignee = auroraPeople.find((each) => each.key === plan.assignee)
    const closedAt = plan.isOpen ? null : new Date(last.at.getTime() + 30 * minuteMs)
    contacts.push({
      id: contactId,
      phone,
      phone_key,
      profile_name: name,
      search_text: buildSearchText([name]),
      tier_source: 'automatic',
      created_at: first.at,
      updated_at: last.at,
    })
    windows.push({ phone_key, last_inbound_at: spoken.at })
    conversations.push({
      id,
      contact_id: contactId,
      status: plan.isOpen ? 'open' : 'closed',
      unread_count: plan.unread,
      pinned_at: plan.isPinned ? new Date(last.at.getTime() + minuteMs) : null,
      assignee_id: assignee ? store.people[assignee.key]! : null,
      assignee_name: assignee?.name ?? null,
      last_message_id: rows[length - 1]!.id,
      last_message_at: last.at,
      last_message_direction: last.direction,
      last_message_type: last.type,
      last_message_status: rows[length - 1]!.status,
      last_message_preview: buildPreview(last.type, last.text),
      last_inbound_at: spoken.at,
      waiting_since: plan.isWaiting ? plan.messages[answeredAt + 1]!.at : null,
      message_count: length + (earlier ? 1 : 0),
      closed_at: closedAt,
      settled_at: closedAt,
      created_at: first.at,
      updated_at: closedAt ?? last.at,
    })
    return { id, phone_key, rows, earlier: earlier ? [earlierRow(id, earlier)] : [] }
  })
  await insertRows(tx.system, 'contacts', store.id, contacts)
  await insertRows(tx.system, 'conversations', store.id, conversations)
  const all = messages.flatMap(({ rows, earlier }) => [...rows, ...earlier])
  await insertRows(tx.system, 'inbox_messages', store.id, all)
  await insertRows(tx.system, 'contact_windows', store.id, windows)
  for (const { id, rows, earlier } of messages) await addWords(tx, id, [...rows, ...earlier])
  const left = messages.flatMap(({ rows, phone_key }) =>
    rows.filter(({ direction }) => direction === 'outbound').map((row) => ({ ...row, phone_key })),
  )
  await recordSent(tx.system, store.id, left, (row) => ({ source: 'inbox', source_id: row.conversation_id }))
  return contacts.map(({ id }) => id)
}

function messageRow(store: DemoStore, id: string, i: number, message: PlannedMessage, n: number): MessageRow {
  const { at, direction, type, text, failure } = message
  const isInbound = direction === 'inbound'
  const writer = auroraPeople[i % auroraPeople.length]!
  const messageId = idFromName(`inbox message ${id} ${n}`, at.getTime())
  const hasLeft = !isInbound && failure === null
  const after = (ms: number) => (hasLeft ? store.timeline.notAfterNow(new Date(at.getTime() + ms)) : null)
  const file = store.files.get(
    { image: 'foto', audio: 'audio', document: 'comprovante' }[type as string] ?? '',
  )
  const content = {
    location: { latitude: -23.5614, longitude: -46.6559, name: 'Avenida Paulista', address: null },
    reaction: { emoji: '❤️', messageId: null },
  }
  const errors = {
    'not-on-network': 'The phone is not on the network',
    'window-closed': 'The window closed before the message could leave: send an approved template',
  }
  return {
    id: messageId,
    conversation_id: id,
    direction,
    source: isInbound ? 'customer' : 'agent',
    type,
    text,
    media: file ? { mediaId: null, ...file, status: 'ready' } : null,
    content: content[type as keyof typeof content] ?? null,
    officialapi_template_id: type === 'template' ? Number(store.names.get('template:cart_reminder')) : null,
    status: isInbound ? 'received' : failure ? 'failed' : 'read',
    error_code: failure,
    error_message: failure && errors[failure],
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
  }
}

function earlierRow(conversationId: string, earlier: Earlier): MessageRow {
  const { id, source, type, text, media, templateId, status, provider_message_id, sent_at } = earlier
  const at = sent_at!
  return {
    id,
    conversation_id: conversationId,
    direction: 'outbound',
    source,
    type,
    text,
    media,
    officialapi_template_id: templateId,
    status,
    provider_message_id,
    attempts: 1,
    occurred_at: at,
    sent_at: at,
    delivered_at: at,
    read_at: status === 'read' ? at : null,
    created_at: at,
    updated_at: at,
  }
}

/** Tags on 35 conversations, 20 notes by all three, the picture of a quick reply. */
async function addTeamwork(
  tx: Context,
  store: DemoStore,
  plans: readonly PlannedConversation[],
  random: Random,
): Promise<void> {
  const { timeline, people } = store
  const conversationId = (i: number) => toId(store, 'conversation', plans[i]!, i)
  const tags = await tx.db.selectFrom('inbox_tags').select('id').orderBy('id').execute()
  const tagged = Array.from({ length: 35 }, (_, i) => ({
    conversation_id: conversationId((i * 17) % 60),
    tag_id: tags[i % tags.length]!.id,
    created_at: timeline.ago(1),
  }))
  await insertRows(tx.system, 'inbox_conversation_tags', store.id, tagged)
  const notes = Array.from({ length: 20 }, (_, n) => {
    const author = auroraPeople[n % auroraPeople.length]!
    const at = new Date(plans[n]!.messages.at(-1)!.at.getTime() + minuteMs)
    return {
      id: idFromName(`inbox note ${store.id} ${n}`, at.getTime()),
      conversation_id: conversationId(n),
      text: random.pick(texts.inbox.notes),
      author_id: people[author.key]!,
      author_name: author.name,
      created_at: timeline.notAfterNow(at),
    }
  })
  await insertRows(tx.system, 'inbox_notes', store.id, notes)
  const url = getUploadUrl(store, 'foto')
  const pictured = await tx.db
    .selectFrom('inbox_quick_replies')
    .select('id')
    .where('media_url', '=', url)
    .execute()
  for (const { id } of pictured) {
    const use = { url, purpose: 'inbox-image', field: 'image' }
    await files.setUses(tx, `inbox-quick-reply:${id}`, [use])
  }
}
