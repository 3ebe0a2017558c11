/**
 * The body of a messaging provider's callbacks, in the form of the WhatsApp Business Cloud API, which the sandbox
 * speaks too: signed, read into events, and written.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ProviderEvent } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { isPlausible, storable } from '#runtime/values/storable'
import { addressBookEvents, echoEvent, fields, historyEvents, inboundEvent, Named } from './inbound-hooks.ts'
import { numberEvent } from './number-hooks.ts'
import { templateEvent } from './template-hooks.ts'

export const signatureHeader = 'x-hub-signature-256'

const signatureOf = (secret: string, body: Uint8Array | string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** Compared in constant time; a missing or malformed header is wrong. */
export function isSigned(secret: string, headers: Headers, body: Uint8Array): boolean {
  const given = Buffer.from(headers.get(signatureHeader) ?? '')
  const right = Buffer.from(signatureOf(secret, body))
  return given.length === right.length && timingSafeEqual(given, right)
}

export type { InboundData } from './inbound-hooks.ts'

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** `data` of an event of kind `status`. */
export interface StatusData {
  providerMessageId: string
  /** The idempotency key of the send, echoed; null where the provider left it out. */
  key: string | null
  status: MessageStatus
  failureCode: StatusFailure | null
  failureMessage: string | null
  /** Whose phone it is that the message went to, where the provider names both. */
  recipient: { phone: string; userId: string } | null
}

/** Why a message failed after it was accepted. */
export type StatusFailure =
  | 'not-on-network'
  | 'undelivered'
  | 'window-closed'
  | 'template-refused'
  | 'media-refused'
  | 'frequency-capped'
  | 'recipient-stopped'
  | 'too-long'
  | 'disconnected'
  | 'number-limit'
  | 'provider-error'

/** The network's numbers for why a message failed after it was accepted, and the code we keep. */
const failures: Record<number, { code: StatusFailure; message: string }> = {
  130472: { code: 'frequency-capped', message: 'The network limits marketing messages to this person' },
  131026: { code: 'undelivered', message: 'The message could not be delivered' },
  130497: { code: 'undelivered', message: 'The network does not let businesses write to this country' },
  131030: { code: 'not-on-network', message: 'The phone is not on the network' },
  131047: { code: 'window-closed', message: 'More than 24 hours have passed since the contact last wrote' },
  131049: { code: 'frequency-capped', message: 'The network limits marketing messages to this person' },
  131050: { code: 'recipient-stopped', message: 'The contact stopped marketing messages at the network' },
  131021: { code: 'not-on-network', message: 'The phone is the number that sends' },
  131037: { code: 'disconnected', message: "The number's display name is not approved" },
  131042: { code: 'disconnected', message: 'The account at the provider has a payment issue' },
  131031: { code: 'disconnected', message: 'The account at the provider cannot send' },
  33: { code: 'disconnected', message: 'The number is not there any more' },
  368: { code: 'disconnected', message: 'The account at the provider is blocked for now' },
  131045: { code: 'disconnected', message: 'The number is not registered at the provider' },
  133010: { code: 'disconnected', message: 'The number is not registered at the provider' },
  131064: { code: 'number-limit', message: 'The number may not send more for now' },
  131048: { code: 'number-limit', message: 'The number may not send more: too many messages were blocked' },
  131051: { code: 'media-refused', message: 'The network does not take this kind of message' },
  131052: { code: 'media-refused', message: 'The network could not fetch the file' },
  131053: { code: 'media-refused', message: 'The network could not take the file' },
  131062: { code: 'template-refused', message: 'The network does not send this to somebody without a phone' },
  131063: { code: 'template-refused', message: 'The network takes no marketing templates of this account' },
  131001: { code: 'too-long', message: 'The message is too long' },
  132000: { code: 'template-refused', message: 'The parameters do not fit the template' },
  132001: { code: 'template-refused', message: 'There is no such template, or it is not approved' },
  132005: { code: 'too-long', message: 'The text is too long once its parameters are filled in' },
  132007: { code: 'template-refused', message: 'The template breaks a rule of the network' },
  132012: { code: 'template-refused', message: 'The parameters do not fit the template' },
  132015: { code: 'template-refused', message: 'The template is paused' },
  132016: { code: 'template-refused', message: 'The template was disabled' },
}

/** What is refused of a template has numbers of its own, and new ones now and then. */
const ofTemplates = {
  code: 'template-refused',
  message: 'The network does not send this template so',
} as const
const failureOf = (number: number) =>
  failures[number] ?? (number >= 132_000 && number < 133_000 ? ofTemplates : undefined)

/** The network's number of a failure, for who writes bodies. */
export function failureNumber(code: string): number {
  const found = Object.entries(failures).find(([, each]) => each.code === code)
  return found ? Number(found[0]) : 131_000
}

const statusShape = z.object({
  id: z.string().min(1),
  status: z.enum(['sent', 'delivered', 'read', 'failed']),
  timestamp: z.union([z.string(), z.number()]),
  biz_opaque_callback_data: z.string().nullish(),
  recipient_id: z.string().nullish(),
  recipient_user_id: z.string().nullish(),
  errors: z.array(z.object({ code: z.number(), title: z.string().nullish() })).nullish(),
})
const echoesShape = z.object({
  metadata: z.object({ phone_number_id: z.string() }).partial().optional(),
  contacts: z.array(z.unknown()).optional(),
  message_echoes: z.array(z.unknown()),
})
const valueShape = z
  .object({
    metadata: z.object({ phone_number_id: z.string() }).partial(),
    contacts: z.array(z.unknown()),
    statuses: z.array(z.unknown()),
    messages: z.array(z.unknown()),
    // Of the number or the app, not of a message.
    errors: z.array(z.unknown()),
  })
  .partial()
const bodyShape = z.object({
  entry: z.array(z.unknown()),
})
const entryShape = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  time: z.union([z.string(), z.number()]).nullish().catch(null),
  changes: z.array(z.unknown()).nullish().catch(null),
})
const changeShape = z.object({ field: z.string(), value: z.unknown() })

/** The entries that can be read, with their changes; what cannot hides nothing that stands beside it. */
function entriesOf(body: unknown) {
  return bodyShape.parse(body).entry.flatMap((given) => {
    const { data } = entryShape.safeParse(given)
    if (!data) return []
    const changes = (data.changes ?? []).flatMap((each) => changeShape.safeParse(each).data ?? [])
    return [{ id: String(data.id ?? ''), time: data.time, changes }]
  })
}

/**
 * Every change of a body as an event of its own. One it does not know, or cannot read, is an event too, of the kind
 * that the provider named: nothing hides what stands beside it. `storeRef` is the id of the number, where it has one.
 * Throws where the whole is no JSON of that form.
 */
export function parseHookBody(rawBody: Uint8Array): ProviderEvent[] {
  const entries = entriesOf(storable(JSON.parse(Buffer.from(rawBody).toString('utf8'))))
  const events: ProviderEvent[] = []
  for (const entry of entries) {
    for (const { field, value } of entry.changes) {
      const told =
        field === fields.history
          ? historyEvents(value, instantOf)
          : field === fields.addressBook
            ? addressBookEvents(value, instantOf)
            : null
      if (told) {
        events.push(...told)
        continue
      }
      const echoes = field === fields.echo ? echoesShape.safeParse(value).data : undefined
      if (echoes) {
        const numberId = echoes.metadata?.phone_number_id ?? null
        const named = new Named(echoes.contacts ?? [])
        for (const each of echoes.message_echoes) {
          events.push(
            echoEvent(each, numberId, named, instantOf) ??
              otherEvent('echo-unknown', entry.id, null, each, numberId),
          )
        }
        continue
      }
      const read = field === 'messages' ? valueShape.safeParse(value) : null
      if (!read?.success) {
        const at = entry.time == null ? null : instantOf(entry.time)
        const known =
          at === null ? null : (templateEvent(field, value, at) ?? numberEvent(field, value, entry.id, at))
        events.push(known ?? otherEvent(field, entry.id, entry.time ?? null, value, null))
        continue
      }
      const { metadata, contacts = [], statuses = [], messages = [], errors = [] } = read.data
      const numberId = metadata?.phone_number_id ?? null
      const named = new Named(contacts)
      for (const each of statuses) {
        events.push(
          statusEvent(each, numberId) ?? otherEvent('status-unknown', entry.id, null, each, numberId),
        )
      }
      for (const each of errors) {
        events.push(otherEvent('number-error', entry.id, entry.time ?? null, each, numberId))
      }
      for (const each of messages) {
        events.push(
          inboundEvent(each, numberId, named, instantOf) ??
            otherEvent('inbound-unknown', entry.id, null, each, numberId),
        )
      }
    }
  }
  return events
}

function statusEvent(given: unknown, numberId: string | null): ProviderEvent | null {
  const read = statusShape.safeParse(given)
  const occurredAt = read.success ? instantOf(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, status, biz_opaque_callback_data: key, errors } = read.data
  const { recipient_id: digits, recipient_user_id: userId } = read.data
  const error = status === 'failed' ? (errors?.[0] ?? null) : null
  const failure = error ? failureOf(error.code) : undefined
  const data: StatusData = {
    providerMessageId: id,
    key: key ?? null,
    status,
    failureCode: status === 'failed' ? (failure?.code ?? 'provider-error') : null,
    failureMessage:
      status === 'failed' ? (failure?.message ?? error?.title ?? 'The network refused the message') : null,
    recipient: userId && /^\d{5,20}$/.test(digits ?? '') ? { phone: `+${digits}`, userId } : null,
  }
  return { key: `status:${id}:${status}`, kind: 'status', occurredAt, storeRef: numberId, data }
}

function otherEvent(
  kind: string,
  account: string,
  time: string | number | null,
  value: unknown,
  numberId: string | null,
): ProviderEvent {
  const text = JSON.stringify(value ?? null)
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return {
    key: `${kind}:${account}:${time ?? ''}:${digest}`,
    kind,
    occurredAt: (time === null ? null : instantOf(time)) ?? new Date(0).toISOString(),
    storeRef: numberId,
    data: { account, value: value ?? null },
  }
}

/** Seconds since 1970, as number or text; the sandbox's have decimals. */
function instantOf(timestamp: string | number): string | null {
  const ms = Math.round(Number(timestamp) * 1000)
  const at = new Date(ms)
  return ms > 0 && isPlausible(ms) ? at.toISOString() : null
}

export const timestampOf = (at: Date): string => String(at.getTime() / 1000)

/** One number's changes, as they stand in a body. */
export interface NumberChanges {
  numberId: string
  account: string
  statuses: Record<string, unknown>[]
  messages: Record<string, unknown>[]
  contacts: Record<string, unknown>[]
  /** Of the merchant's own app. */
  echoes?: Record<string, unknown>[]
}

export interface SignedHook {
  headers: Headers
  body: Uint8Array
}

/** A signed body with changes of an account: of its templates, say. `time`: as `timestampOf` writes it. */
export const signedChanges = (
  secret: string,
  account: string,
  time: string,
  changes: readonly { field: string; value: unknown }[],
): SignedHook =>
  signed(secret, { object: 'whatsapp_business_account', entry: [{ id: account, time, changes }] })

/** A signed body with the changes of one or more numbers. */
export function hookBody(secret: string, numbers: readonly NumberChanges[]): SignedHook {
  return signed(secret, {
    object: 'whatsapp_business_account',
    entry: numbers.map((changes) => ({ id: changes.account, changes: fieldsOf(changes) })),
  })
}

function fieldsOf({ numberId, statuses, messages, contacts, echoes = [] }: NumberChanges) {
  const head = { messaging_product: 'whatsapp', metadata: { phone_number_id: numberId } }
  const told = {
    ...head,
    ...(statuses.length > 0 ? { statuses } : {}),
    ...(messages.length > 0 ? { messages, contacts } : {}),
  }
  if (echoes.length === 0) return [{ field: 'messages', value: told }]
  const echoed = { field: fields.echo, value: { ...head, message_echoes: echoes } }
  return statuses.length + messages.length === 0 ? [echoed] : [{ field: 'messages', value: told }, echoed]
}

function signed(secret: string, content: unknown): SignedHook {
  const body = Buffer.from(JSON.stringify(content))
  return {
    headers: new Headers({
      'content-type': 'application/json',
      [signatureHeader]: signatureOf(secret, body),
    }),
    body,
  }
}
