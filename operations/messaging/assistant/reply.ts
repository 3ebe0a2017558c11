/** Handles a message to the assistant's number: stores one decision in a transaction, then sends the reply (rule 9). */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import { cycles, readEntitlement } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { newId, sha256 } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { answerRequest } from './answers.ts'
import { maxBindings, parseCode } from './codes.ts'
import { type Assistant, getAssistant } from './numbers.ts'
import { detectPhoneLanguage, type Language, parseRequest, texts, toLanguage } from './texts.ts'

export interface AssistantMessage {
  inboundId: string
  /** E.164. */
  phone: string
  text: string
}

/** A placeholder store for ports, used for phones that belong to no store. */
const noStore = '00000000-0000-0000-0000-000000000000'
const maxWrongCodes = 5
const wrongCodeWindowMs = 15 * minuteMs
const silentMs = 60 * minuteMs

/** The decision: a text, the answer to a request, or nothing. */
type Decision = { say: string; storeId: string | null } | { ask: true; storeId: string } | { silence: true }

/** Answers one inbound message, at most once. Throws if the provider does not respond, so that the job retries. */
export async function replyTo(system: SystemContext, message: AssistantMessage): Promise<void> {
  const assistant = getAssistant(system.services)
  if (!assistant) return
  const facts = await findFacts(system, message)
  await system.root.transaction().execute((db) => decideOnce(system, db, message, facts))
  const reply = await system.root
    .selectFrom('chat_agent_replies')
    .selectAll()
    .where('inbound_id', '=', message.inboundId)
    .executeTakeFirstOrThrow()
  if (reply.sent_at) return
  const text = reply.text ?? (await buildAnswer(system, reply.store_id!, message))
  if (reply.text === null) {
    await system.root.updateTable('chat_agent_replies').set({ text }).where('id', '=', reply.id).execute()
  }
  await sendReply(assistant, reply.store_id, reply.id, message.phone, text)
  await system.root
    .updateTable('chat_agent_replies')
    .set({ sent_at: system.now() })
    .where('id', '=', reply.id)
    .execute()
}

async function buildAnswer(
  system: SystemContext,
  storeId: string,
  { text }: AssistantMessage,
): Promise<string> {
  const ctx = await system.forStore(storeId)
  if (!ctx) throw new Error(`No store ${storeId}`)
  return answerRequest(ctx, parseRequest(text))
}

async function sendReply(
  { port }: Assistant,
  storeId: string | null,
  id: string,
  phone: string,
  text: string,
): Promise<void> {
  const store = { id: storeId ?? noStore, credentials: null }
  await port.sendText(store, { phone, via: 'assistant', text, idempotencyKey: `ca_${id}_1` })
}

interface Facts {
  /** The store of the binding, or of the code in the message. */
  store: { ctx: Context; hasAssistant: boolean; cycleStart: Date } | null
}

/**
 * Reads, before the transaction, the facts that need the store's own context. The transaction then checks bindings and
 * codes again.
 */
async function findFacts(system: SystemContext, message: AssistantMessage): Promise<Facts> {
  const now = system.now()
  const binding = await findBinding(system.root, message.phone)
  const code = binding ? null : await findCode(system.root, message.text, now)
  const storeId = binding?.store_id ?? code?.store_id
  const ctx = storeId ? await system.forStore(storeId) : null
  if (!ctx) return { store: null }
  const { features } = await readEntitlement(ctx)
  const { startsAt } = await cycles.readCurrentCycle(ctx)
  return { store: { ctx, hasAssistant: features.has('chat-agent'), cycleStart: startsAt } }
}

const findBinding = async (db: RootDatabase, phone: string) =>
  db
    .selectFrom('chat_agent_bindings')
    .select(['store_id', 'phone_key'])
    .where('phone_key', '=', phoneKey(phone))
    .where(isInStores('store_id', await findStoreIds(db, 'chat-agent-phone', [phoneKey(phone)])))
    .executeTakeFirst()

async function findCode(db: RootDatabase, text: string, now: Date) {
  const code = parseCode(text)
  if (!code) return null
  const row = await db
    .selectFrom('chat_agent_codes')
    .select(['store_id', 'id', 'user_id', 'name', 'phone_key'])
    .where('code_hash', '=', sha256(code))
    .where(isInStores('store_id', await findStoreIds(db, 'chat-agent-code', [sha256(code)])))
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row ?? null
}

/** Decides once per inbound message; messages of one phone are serialized. */
async function decideOnce(
  system: SystemContext,
  db: RootDatabase,
  message: AssistantMessage,
  facts: Facts,
): Promise<void> {
  const now = system.now()
  const key = phoneKey(message.phone)
  await db
    .insertInto('chat_agent_strangers')
    .values({ phone_key: key })
    .onConflict((conflict) => conflict.column('phone_key').doUpdateSet({ phone_key: key }))
    .execute()
  const claimed = await db
    .insertInto('chat_agent_replies')
    .values({
      inbound_id: message.inboundId,
      id: newId(now.getTime()),
      store_id: null,
      phone: message.phone,
      text: null,
      created_at: now,
      sent_at: null,
    })
    .onConflict((conflict) => conflict.column('inbound_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!claimed) return
  const decision = await decide(system, db, message, facts)
  const isSilent = 'silence' in decision
  await db
    .updateTable('chat_agent_replies')
    .set({
      store_id: isSilent ? null : decision.storeId,
      text: 'say' in decision ? decision.say : null,
      sent_at: isSilent ? now : null,
    })
    .where('id', '=', claimed.id)
    .execute()
}

async function decide(
  system: SystemContext,
  db: RootDatabase,
  message: AssistantMessage,
  facts: Facts,
): Promise<Decision> {
  const binding = await findBinding(db, message.phone)
  if (!binding) return decideForStranger(system, db, message, facts)
  const { store_id: storeId } = binding
  const own = facts.store?.ctx.store.id === storeId ? facts.store : null
  // The phone was paired after `findFacts` read it: the job retries.
  if (!own) throw new Error('The phone was paired meanwhile')
  const say = texts[toLanguage(own.ctx.store.locale)]
  const code = await findCode(db, message.text, system.now())
  if (code) return { say: code.store_id === storeId ? say.pairedAlready : say.pairedElsewhere, storeId }
  if (parseRequest(message.text).topic === 'unpair') {
    await db
      .deleteFrom('chat_agent_bindings')
      .where('store_id', '=', storeId)
      .where('phone_key', '=', binding.phone_key)
      .execute()
    return { say: say.unpaired, storeId }
  }
  if (!own.hasAssistant) return { say: say.notInPlan, storeId }
  return decideRequest(system, db, message, own)
}

/** Counts one request of a paired phone. Beyond the limit, the phone gets one notice a day instead of an answer. */
async function decideRequest(
  system: SystemContext,
  db: RootDatabase,
  message: AssistantMessage,
  { ctx, cycleStart }: NonNullable<Facts['store']>,
): Promise<Decision> {
  const now = system.now()
  const storeId = ctx.store.id
  const limit = system.settings.chatAgentRequests
  await db.selectFrom('stores').select('id').where('id', '=', storeId).forNoKeyUpdate().execute()
  const { used } = await db
    .selectFrom('chat_agent_requests')
    .select((eb) => eb.fn.countAll<number>().as('used'))
    .where('store_id', '=', storeId)
    .where('requested_at', '>=', cycleStart)
    .executeTakeFirstOrThrow()
  const key = phoneKey(message.phone)
  if (used >= limit) {
    if (!(await recordFirstNotice(db, key, now))) return { silence: true }
    return { say: texts[toLanguage(ctx.store.locale)].limit(limit), storeId }
  }
  await db
    .insertInto('chat_agent_requests')
    .values({ store_id: storeId, inbound_id: message.inboundId, phone_key: key, requested_at: now })
    .execute()
  await db
    .updateTable('chat_agent_bindings')
    .set({ last_used_at: now })
    .where('store_id', '=', storeId)
    .where('phone_key', '=', key)
    .execute()
  return { ask: true, storeId }
}

/** Records the notice. Returns whether it is the first one to this phone in 24 hours. */
async function recordFirstNotice(db: RootDatabase, key: string, now: Date): Promise<boolean> {
  const inserted = await db
    .updateTable('chat_agent_strangers')
    .set({ told_at: now })
    .where('phone_key', '=', key)
    .where((eb) => eb.or([eb('told_at', 'is', null), eb('told_at', '<=', new Date(now.getTime() - dayMs))]))
    .returning('phone_key')
    .execute()
  return inserted.length > 0
}

async function decideForStranger(
  system: SystemContext,
  db: RootDatabase,
  message: AssistantMessage,
  facts: Facts,
): Promise<Decision> {
  const now = system.now()
  const key = phoneKey(message.phone)
  const say = texts[detectPhoneLanguage(message.phone)]
  const { silent_until: silentUntil } = await db
    .selectFrom('chat_agent_strangers')
    .select('silent_until')
    .where('phone_key', '=', key)
    .executeTakeFirstOrThrow()
  if (silentUntil && now < silentUntil) return { silence: true }
  if (!parseCode(message.text)) {
    return (await recordFirstNotice(db, key, now)) ? { say: say.howToPair, storeId: null } : { silence: true }
  }
  const code = await findCode(db, message.text, now)
  const isTheirs = code && (code.phone_key === null || code.phone_key === key)
  if (!isTheirs || facts.store?.ctx.store.id !== code.store_id) {
    await countWrongCode(db, key, now)
    return { say: say.invalid, storeId: null }
  }
  return pair(db, message.phone, code, facts.store, now)
}

async function countWrongCode(db: RootDatabase, key: string, now: Date): Promise<void> {
  const since = new Date(now.getTime() - wrongCodeWindowMs)
  const recent = sql<Date[]>`(select coalesce(array_agg(w), '{}') || ${now}::timestamptz
    from unnest(wrong_at) w where w > ${since}::timestamptz)`
  await db
    .updateTable('chat_agent_strangers')
    .set({
      wrong_at: recent,
      silent_until: sql<Date>`case when cardinality(${recent}) >= ${maxWrongCodes}::int
        then ${new Date(now.getTime() + silentMs)}::timestamptz else silent_until end`,
    })
    .where('phone_key', '=', key)
    .execute()
}

async function pair(
  db: RootDatabase,
  phone: string,
  code: { store_id: string; id: string; user_id: string; name: string },
  { ctx, hasAssistant }: NonNullable<Facts['store']>,
  now: Date,
): Promise<Decision> {
  const language: Language = toLanguage(ctx.store.locale)
  const say = texts[language]
  const storeId = code.store_id
  if (!hasAssistant) return { say: say.notInPlan, storeId }
  await db.selectFrom('stores').select('id').where('id', '=', storeId).forNoKeyUpdate().execute()
  const { paired } = await db
    .selectFrom('chat_agent_bindings')
    .select((eb) => eb.fn.countAll<number>().as('paired'))
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  if (paired >= maxBindings) return { say: say.tooMany, storeId }
  const used = await db
    .updateTable('chat_agent_codes')
    .set({ ended_at: now })
    .where('store_id', '=', storeId)
    .where('id', '=', code.id)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute()
  // Another phone used the code first, or the member was removed.
  if (used.length === 0) return { say: say.invalid, storeId: null }
  await db
    .insertInto('chat_agent_bindings')
    .values({
      store_id: storeId,
      phone_key: phoneKey(phone),
      phone,
      name: code.name,
      user_id: code.user_id,
      paired_at: now,
    })
    .execute()
  await db
    .updateTable('chat_agent_strangers')
    .set({ wrong_at: sql<Date[]>`'{}'`, silent_until: null })
    .where('phone_key', '=', phoneKey(phone))
    .execute()
  return { say: say.paired(ctx.store.name), storeId }
}
