/** Single sends: one message to one phone, tried once within the request (rule 5). */

import { sql } from 'kysely'
import { files, metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { type ErrorCode, refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import { requireReferences } from '#runtime/references'
import { z } from '#runtime/schema'
import { sha256 } from '#runtime/values/ids'
import { phoneKey, requirePhone } from '#runtime/values/phone'
import { truncate } from '#runtime/values/truncate'
import type { Route } from '../numbers/route.ts'
import { deadAfterMs } from '../outbox/outbox-source.ts'
import { checkRecipient, checkRoute, type FailedPrecondition } from '../sending/check.ts'
import { type Content, checkContent } from '../sending/deliver.ts'
import { fitParameters, get as getTemplate, render, type Template } from '../templates/read.ts'
import { parseContent } from './content.ts'
import { dispatchSend } from './outbox-source.ts'
import { readSend } from './rows.ts'
import { type SendInput, sendInput } from './schema.ts'

export interface SingleSend {
  purpose: 'message' | 'template-test' | 'automation-test'
  /** As the caller wrote it. */
  phone: string
  name?: string | null
  content: Content
  /** Always uses the official number. */
  via?: 'official'
}

/**
 * Parses the body and sends the message. Refuses fields that do not fit, and an unknown file of this server's storage.
 */
export async function sendFromInput(ctx: Context, input: SendInput): Promise<JsonText> {
  const { phone, name = null } = input
  const content = parseContent(input, ctx.settings.publicUrl)
  await requireReferences(ctx, z.object(sendInput), { before: null, after: input, kinds: ['file'] })
  return sendOne(ctx, { purpose: 'message', phone, name, content })
}

/**
 * Sends one message, outside any transaction. Returns its SentMessage with the status `sent`, or `queued` if the
 * provider did not answer. Refuses, in this order: no connection, a type that the connection does not support, an
 * unknown or unapproved template, a wrong number of parameters, an opt-out, a closed window, the number's limit, the
 * quota. Also refuses a message that the provider refuses.
 */
export async function sendOne(ctx: Context, send: SingleSend): Promise<JsonText> {
  const phone = requirePhone(send.phone, ctx.store.country)
  const requestKey = buildRequestKey(ctx, send)
  const before = requestKey === null ? null : await findRequest(ctx, requestKey)
  if (before) {
    await dispatchSend(ctx, before, true)
    return readAnswer(ctx, before)
  }
  const { route, template, content } = await requireSendable(ctx, { ...send, phone })
  const id = await insertSend(ctx, { ...send, phone, content }, route, template, requestKey)
  await dispatchSend(ctx, id, true)
  return readAnswer(ctx, id)
}

/**
 * Builds the key by which a request repeated with the same Idempotency-Key finds its message, even after a crash. Tests
 * of an automation have no key, because their content changes with each run (a made-up coupon, the newest order).
 */
function buildRequestKey(ctx: Context, { purpose, phone, content }: SingleSend): string | null {
  if (purpose === 'automation-test') return null
  const key = ctx.resumeKey
  return key ? sha256(JSON.stringify([key, purpose, phone, content])) : null
}

async function findRequest(ctx: Context, requestKey: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('direct_messages')
    .select('id')
    .where('request_key', '=', requestKey)
    .where('created_at', '>', new Date(ctx.clock.ms() - dayMs))
    .executeTakeFirst()
  return row?.id ?? null
}

async function requireSendable(
  ctx: Context,
  { phone, content, via }: SingleSend,
): Promise<{ route: Route; template: Template | null; content: Content }> {
  const route = await checkRoute(ctx, via)
  if ('code' in route) throw toApiError(route)
  const { type } = route.connection
  if (content.kind === 'template' && type !== 'official') {
    throw refuse('conflict', 'Templates leave through the official number only: select it, or write a text')
  }
  const template = content.kind === 'template' ? await requireTemplate(ctx, content.templateId) : null
  const unfit = checkContent(type, content, template)
  if (unfit) throw toApiError(unfit)
  const sent =
    template && content.kind === 'template'
      ? { ...content, parameters: fitParameters(template, content.parameters, 'templateParameters') }
      : content
  const failed = await checkRecipient(ctx, route, template, { phone })
  if (failed) throw toApiError(failed)
  return { route, template, content: sent }
}

async function requireTemplate(ctx: Context, id: number): Promise<Template> {
  const template = await getTemplate(ctx, id)
  if (!template) throw refuse('not_found', `officialapiTemplateId: there is no template ${id}`)
  if (template.status === 'approved') return template
  throw refuse(
    'conflict',
    `The template ${template.name} is ${template.status}: only an approved one can be sent`,
  )
}

function toApiError({ code, message }: FailedPrecondition): Error {
  const codes: Record<string, ErrorCode> = { 'subscription-inactive': 'forbidden', 'too-long': 'bad_request' }
  return refuse(codes[code] ?? 'conflict', code === 'too-long' ? `text: ${message}` : message)
}

/** Inserts the row, claimed by this request, and reserves its quota unit in one transaction. */
async function insertSend(
  ctx: Context,
  send: SingleSend,
  route: Route,
  template: Template | null,
  requestKey: string | null,
): Promise<string> {
  const { content, phone } = send
  const now = ctx.now()
  return ctx.transaction(async (tx) => {
    if (requestKey !== null) {
      // Frees a key that was used for the same request more than a day ago.
      await tx.db
        .updateTable('direct_messages')
        .set({ request_key: null })
        .where('request_key', '=', requestKey)
        .execute()
    }
    const reservationId = await metering.reserve(tx, 1, 'direct')
    const isTemplate = content.kind === 'template'
    const row = await tx.db
      .insertInto('direct_messages')
      .values({
        id: tx.newId(),
        request_key: requestKey,
        purpose: send.purpose,
        phone,
        phone_key: phoneKey(phone),
        name: send.name ?? (await findContactName(tx, phone)),
        type: isTemplate ? 'template' : (content.media?.type ?? 'text'),
        text: isTemplate ? render(template!, content.parameters).body : content.text || null,
        media_url: content.media?.url ?? null,
        media_file_name: content.media?.fileName ?? null,
        officialapi_template_id: isTemplate ? content.templateId : null,
        template_parameters: isTemplate ? JSON.stringify(content.parameters) : null,
        via: send.via ?? null,
        connection_type: route.connection.type,
        sent_by: tx.actor.userId,
        status: 'queued',
        reservation_id: reservationId,
        // Claimed by this request; if it dies, the job takes over afterwards.
        next_try_at: new Date(now.getTime() + deadAfterMs),
        created_at: now,
        updated_at: now,
      })
      .returning(['id', 'media_url'])
      .executeTakeFirstOrThrow()
    const uses = row.media_url ? [{ url: row.media_url, purpose: null, field: 'mediaUrl' }] : []
    const known = new Set(uses.map(({ url }) => url))
    await files.setUses(tx, `direct-message:${row.id}`, uses, known, content)
    return row.id
  })
}

/** Finds the contact's name in lists or orders. */
async function findContactName(tx: Context, phone: string): Promise<string | null> {
  const key = phoneKey(phone)
  const { name } = await tx.db
    .selectNoFrom((eb) =>
      sql<string | null>`coalesce(${eb
        .selectFrom('list_contacts')
        .select('name')
        .where('phone_key', '=', key)
        .where('name', 'is not', null)
        .orderBy('id', 'desc')
        .limit(1)}, ${eb
        .selectFrom('orders')
        .select('customer_name')
        .where('phone_key', '=', key)
        .where('customer_name', 'is not', null)
        .orderBy('placed_at', 'desc')
        .limit(1)})`.as('name'),
    )
    .executeTakeFirstOrThrow()
  return name === null ? null : truncate(name, 120)
}

/** Reads the response. If the message failed within the request, throws that failure as the request's error. */
async function readAnswer(ctx: Context, id: string): Promise<JsonText> {
  const row = await ctx.db
    .selectFrom('direct_messages')
    .select(['status', 'error_code', 'error_message', 'sent_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (row.status === 'failed' && row.sent_at === null && row.error_code !== 'unknown-outcome') {
    throw refuse('conflict', row.error_message ?? 'The provider refused the message')
  }
  return readSend(ctx, id)
}
