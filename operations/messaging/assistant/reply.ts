/** A message to the assistant's number: decided on once, in one transaction, then answered (rule 9). */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { amongStores, storesListed } from '#db/directory/find'
import { cycles, entitlementOf } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { newId, sha256 } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { bindingsAtMost, codeIn } from './codes.ts'
import { answerRequest } from './figures.ts'
import { type Assistant, assistantOf } from './numbers.ts'
import { type Language, languageOf, languageOfPhone, readRequest, texts } from './texts.ts'

export interface ToAssistant {
  /** The provider's id of the message. */
  inboundId: string
  /** E.164. */
  phone: string
  text: string
}

/** Of a phone that belongs to no store, as a port sees it. */
const noStore = '00000000-0000-0000-0000-000000000000'
const wrongAtMost = 5
const wrongWithinMs = 15 * minuteMs
const silentMs = 60 * minuteMs

/** What is to be said: words, the answer to a request, or nothing. */
type Decision = { say: string; storeId: string | null } | { ask: true; storeId: string } | { silence: true }

/** Answers one inbound message, however often it comes. Throws where the provider is silent: it is said again then. */
export async function replyTo(system: SystemContext, message: ToAssistant): Promise<void> {
  const assistant = assistantOf(system.services)
  if (!assistant) return
  const facts = await findFacts(system, message)
  await system.root.transaction().execute((db) => decideOnce(system, db, message, facts))
  const reply = await system.root
    .selectFrom('chat_agent_replies')
    .selectAll()
    .where('inbound_id', '=', message.inboundId)
    .executeTakeFirstOrThrow()
  if (reply.sent_at) return
  const words = reply.text ?? (await answerFor(system, reply.store_id!, message))
  if (reply.text === null) {
    await system.root
      .updateTable('chat_agent_replies')
      .set({ text: words })
      .where('id', '=', reply.id)
      .execute()
  }
  await say(assistant, reply.store_id, reply.id, message.phone, words)
  await system.root
    .updateTable('chat_agent_replies')
    .set({ sent_at: system.now() })
    .where('id', '=', reply.id)
    .execute()
}

async function answerFor(system: SystemContext, storeId: string, { text }: ToAssistant): Promise<string> {
  const ctx = await system.forStore(storeId)
  if (!ctx) throw new Error(`No store ${storeId}`)
  return answerRequest(ctx, readRequest(text))
}

async function say(
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
  /** The store of the binding, else of the code in the message. */
  store: { ctx: Context; hasAssistant: boolean; cycleStart: Date } | null
}

/** What needs a store's own context is read before the transaction, which looks at bindings and codes again. */
async function findFacts(system: SystemContext, message: ToAssistant): Promise<Facts> {
  const now = system.now()
  const binding = await bindingOf(system.root, message.phone)
  const code = binding ? null : await codeRow(system.root, message.text, now)
  const storeId = binding?.store_id ?? code?.store_id
  const ctx = storeId ? await system.forStore(storeId) : null
  if (!ctx) return { store: null }
  const { features } = await entitlementOf(ctx)
  const { startsAt } = await cycles.cycleNow(ctx)
  return { store: { ctx, hasAssistant: features.has('chat-agent'), cycleStart: startsAt } }
}

const bindingOf = async (db: RootDatabase, phone: string) =>
  db
    .selectFrom('chat_agent_bindings')
    .select(['store_id', 'phone_key'])
    .where('phone_key', '=', phoneKey(phone))
    .where(amongStores('store_id', await storesListed(db, 'chat-agent-phone', [phoneKey(phone)])))
    .executeTakeFirst()

async function codeRow(db: RootDatabase, text: string, now: Date) {
  const code = codeIn(text)
  if (!code) return null
  const row = await db
    .selectFrom('chat_agent_codes')
    .select(['store_id', 'id', 'user_id', 'name', 'phone_key'])
    .where('code_hash', '=', sha256(code))
    .where(amongStores('store_id', await storesListed(db, 'chat-agent-code', [sha256(code)])))
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row ?? null
}

/** The same inbound message again decides nothing; messages of one phone take turns. */
async function decideOnce(
  system: SystemContext,
  db: RootDatabase,
  message: ToAssistant,
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
  message: ToAssistant,
  facts: Facts,
): Promise<Decision> {
  const binding = await bindingOf(db, message.phone)
  if (!binding) return decideForStranger(system, db, message, facts)
  const { store_id: storeId } = binding
  const own = facts.store?.ctx.store.id === storeId ? facts.store : null
  // Paired while this was read: it is asked again.
  if (!own) throw new Error('The phone was paired meanwhile')
  const say = texts[languageOf(own.ctx.store.locale)]
  const code = await codeRow(db, message.text, system.now())
  if (code) return { say: code.store_id === storeId ? say.pairedAlready : say.pairedElsewhere, storeId }
  if (readRequest(message.text).topic === 'unpair') {
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

/** One request of a paired phone; beyond the limit one notice a day. */
async function decideRequest(
  system: SystemContext,
  db: RootDatabase,
  message: ToAssistant,
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
    if (!(await isFirstToday(db, key, now))) return { silence: true }
    return { say: texts[languageOf(ctx.store.locale)].limit(limit), storeId }
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

/** Whether it is the first such notice to this phone in 24 hours; writes it down. */
async function isFirstToday(db: RootDatabase, key: string, now: Date): Promise<boolean> {
  const told = await db
    .updateTable('chat_agent_strangers')
    .set({ told_at: now })
    .where('phone_key', '=', key)
    .where((eb) => eb.or([eb('told_at', 'is', null), eb('told_at', '<=', new Date(now.getTime() - dayMs))]))
    .returning('phone_key')
    .execute()
  return told.length > 0
}

async function decideForStranger(
  system: SystemContext,
  db: RootDatabase,
  message: ToAssistant,
  facts: Facts,
): Promise<Decision> {
  const now = system.now()
  const key = phoneKey(message.phone)
  const say = texts[languageOfPhone(message.phone)]
  const { silent_until: silentUntil } = await db
    .selectFrom('chat_agent_strangers')
    .select('silent_until')
    .where('phone_key', '=', key)
    .executeTakeFirstOrThrow()
  if (silentUntil && now < silentUntil) return { silence: true }
  if (!codeIn(message.text)) {
    return (await isFirstToday(db, key, now)) ? { say: say.howToPair, storeId: null } : { silence: true }
  }
  const code = await codeRow(db, message.text, now)
  const isTheirs = code && (code.phone_key === null || code.phone_key === key)
  if (!isTheirs || facts.store?.ctx.store.id !== code.store_id) {
    await countWrong(db, key, now)
    return { say: say.invalid, storeId: null }
  }
  return pair(db, message.phone, code, facts.store, now)
}

async function countWrong(db: RootDatabase, key: string, now: Date): Promise<void> {
  const since = new Date(now.getTime() - wrongWithinMs)
  const recent = sql<Date[]>`(select coalesce(array_agg(w), '{}') || ${now}::timestamptz
    from unnest(wrong_at) w where w > ${since}::timestamptz)`
  await db
    .updateTable('chat_agent_strangers')
    .set({
      wrong_at: recent,
      silent_until: sql<Date>`case when cardinality(${recent}) >= ${wrongAtMost}::int
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
  const language: Language = languageOf(ctx.store.locale)
  const say = texts[language]
  const storeId = code.store_id
  if (!hasAssistant) return { say: say.notInPlan, storeId }
  await db.selectFrom('stores').select('id').where('id', '=', storeId).forNoKeyUpdate().execute()
  const { paired } = await db
    .selectFrom('chat_agent_bindings')
    .select((eb) => eb.fn.countAll<number>().as('paired'))
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  if (paired >= bindingsAtMost) return { say: say.tooMany, storeId }
  const used = await db
    .updateTable('chat_agent_codes')
    .set({ ended_at: now })
    .where('store_id', '=', storeId)
    .where('id', '=', code.id)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute()
  // Another phone was faster, or the member is gone.
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
