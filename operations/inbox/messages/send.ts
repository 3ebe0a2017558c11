/** Accepts a message that a member wants to send: stores it, reserves its quota unit and queues the send job (rule 5). */

import { sql } from 'kysely'
import { check } from '#operations/messaging/index'
import { metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { sha256 } from '#runtime/values/ids'
import { getConversationContact } from '../conversations/conversation-contact.ts'
import { addWords } from '../conversations/conversation-words.ts'
import { memberName } from '../conversations/conversations.ts'
import { inboxSend } from '../handles.ts'
import type { MediaRow } from '../receiving/inbound.ts'
import { updateConversationSummary } from '../receiving/outbound.ts'
import type { message } from '../schema.ts'
import { requireInbox } from '../state.ts'
import { isWindowOpen } from '../window.ts'
import { buildProviderContent, type Composed, compose } from './compose.ts'
import { messageJson, signMedia } from './json.ts'
import type { SendInput } from './send-schema.ts'

/**
 * Queues a message and returns its id. A repeated request with the same `clientId` returns the id of the existing
 * message.
 */
export async function queueMessage(ctx: Context, conversationId: string, input: SendInput): Promise<string> {
  const contact = await getConversationContact(ctx, conversationId)
  const { clientId, ...content } = input
  const hash = sha256(JSON.stringify(sortFields(content)))
  if (clientId !== undefined) await lockClientId(ctx, `${contact.conversationId} ${clientId}`)
  const known = clientId === undefined ? null : await findByClientId(ctx, contact.conversationId, clientId)
  if (known) {
    if (known.request_hash === hash) return known.id
    throw refuse('conflict', 'clientId: was used with other content already')
  }
  await requireInbox(ctx)
  const messageId = ctx.newId()
  const repliedTo = await findReplied(ctx, contact.conversationId, input.replyToMessageId)
  const composed = await compose(ctx, messageId, contact.conversationId, input)
  if (composed.type !== 'template' && !isWindowOpen(contact.lastInboundAt, ctx.now())) {
    throw refuse(
      'conflict',
      'The contact has not written in the last 24 hours: send an approved template instead',
    )
  }
  await checkSendable(ctx, contact.phone, composed)
  // Locks the quota cycle before the conversation, in the same order as recording a sent message, to prevent deadlocks.
  const reservationId = await metering.reserve(ctx, 1, 'inbox')
  const now = ctx.now()
  const sentBy = ctx.actor.userId
  await ctx.db
    .insertInto('inbox_messages')
    .values({
      id: messageId,
      conversation_id: contact.conversationId,
      client_id: clientId ?? null,
      request_hash: hash,
      direction: 'outbound',
      source: 'agent',
      type: composed.type,
      text: composed.text,
      media: composed.media && JSON.stringify(composed.media),
      officialapi_template_id: composed.templateId,
      template_parameters: composed.parameters && JSON.stringify(composed.parameters),
      reply_to_message_id: repliedTo,
      quick_reply_id: composed.quickReplyId,
      status: 'queued',
      sent_by: sentBy,
      sent_by_name: sentBy === null ? null : await memberName(ctx, sentBy),
      reservation_id: reservationId,
      occurred_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
  const { type, text } = composed
  await addWords(ctx, contact.conversationId, [{ id: messageId, text }])
  await updateConversationSummary(ctx, contact.conversationId, {
    id: messageId,
    type,
    text,
    status: 'queued',
    at: now,
  })
  await ctx.queue(inboxSend, { conversationId: contact.conversationId })
  return messageId
}

/** Serializes requests with the same `clientId` until the transaction ends. */
async function lockClientId(ctx: Context, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`inbox:${ctx.store.id}:${name}`}, 0))`.execute(
    ctx.db,
  )
}

/** Sorts the fields of an object by name, so that equal content has an equal hash. */
const sortFields = (content: object): [string, unknown][] =>
  Object.entries(content)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]): [string, unknown] => [key, isObject(value) ? sortFields(value) : value])
    .sort(([a], [b]) => (a < b ? -1 : 1))
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const findByClientId = (ctx: Context, conversationId: string, clientId: string) =>
  ctx.db
    .selectFrom('inbox_messages')
    .select(['id', 'request_hash'])
    .where('conversation_id', '=', conversationId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()

async function findReplied(
  ctx: Context,
  conversationId: string,
  messageId: string | undefined,
): Promise<string | null> {
  if (messageId === undefined) return null
  const ofIt = ctx.db.selectFrom('inbox_messages').select('id').where('conversation_id', '=', conversationId)
  const { id } = await requireRow(ofIt, messageId, 'replyToMessageId: is no message of this conversation')
  return id
}

/** Checks the preconditions of sending, except for the messaging window, which the caller has checked. */
async function checkSendable(ctx: Context, phone: string, composed: Composed): Promise<void> {
  const content = buildProviderContent(composed)
  const objection = await check(ctx, {
    phone,
    content,
    via: 'official',
    isAnswer: content.kind !== 'template',
  })
  if (!objection) return
  throw refuse(objection.code === 'subscription-inactive' ? 'forbidden' : 'conflict', objection.message)
}

/** Reads a message as JSON. */
export async function readMessage(ctx: Context, id: string): Promise<z.infer<typeof message>> {
  type Stored = Omit<z.infer<typeof message>, 'media'> & { media: MediaRow | null }
  const { json } = await ctx.db
    .selectFrom('inbox_messages as m')
    .select(messageJson('m').as('json'))
    .where('m.id', '=', id)
    .executeTakeFirstOrThrow()
  return signMedia(ctx, json as Stored)
}
