/**
 * Webhook bodies of messaging providers, in the format of the WhatsApp Business Cloud API, which the sandbox uses too:
 * verifies signatures, parses bodies into events, and builds bodies.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ProviderEvent } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { isPlausible, sanitize } from '#runtime/values/sanitize'
import {
  fields,
  PersonIndex,
  toAddressBookEvents,
  toEchoEvent,
  toHistoryEvents,
  toInboundEvent,
} from './inbound-hooks.ts'
import { toNumberEvent } from './number-hooks.ts'
import { toTemplateEvent } from './template-hooks.ts'

export const signatureHeader = 'x-hub-signature-256'

const sign = (secret: string, body: Uint8Array | string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** Compares in constant time; a missing or malformed header fails. */
export function isSigned(secret: string, headers: Headers, body: Uint8Array): boolean {
  const given = Buffer.from(headers.get(signatureHeader) ?? '')
  const right = Buffer.from(sign(secret, body))
  return given.length === right.length && timingSafeEqual(given, right)
}

export type { InboundData } from './inbound-hooks.ts'

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** `data` of an event of kind `status`. */
export interface StatusData {
  providerMessageId: string
  /** The idempotency key of the send, as the provider returned it; null if absent. */
  key: string | null
  status: MessageStatus
  failureCode: StatusFailure | null
  failureMessage: string | null
  /** The recipient's phone and id, if the provider names both. */
  recipient: { phone: string; userId: string } | null
}

/** Why an accepted message failed later. */
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
  // Only emails have this one: they bounced.
  | 'recipient-refused'
  | 'provider-error'

/** The network's error codes for messages that it refused, at once or after acceptance, mapped to ours. */
const failures: Record<number, { code: StatusFailure; message: string }> = {
  130403: { code: 'undelivered', message: 'Your business has blocked this person on WhatsApp' },
  130472: { code: 'frequency-capped', message: 'The network limits marketing messages to this person' },
  131026: { code: 'undelivered', message: 'The message could not be delivered' },
  130497: { code: 'undelivered', message: 'The network does not let businesses write to this country' },
  131030: { code: 'not-on-network', message: 'The phone is not on the network' },
  131047: { code: 'window-closed', message: 'More than 24 hours have passed since the contact last wrote' },
  131049: { code: 'frequency-capped', message: 'The network limits marketing messages to this person' },
  131050: { code: 'recipient-stopped', message: 'The contact stopped marketing messages on WhatsApp' },
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
  132007: { code: 'template-refused', message: 'The template violates a policy of WhatsApp' },
  132012: { code: 'template-refused', message: 'The parameters do not fit the template' },
  132015: { code: 'template-refused', message: 'The template is paused' },
  132016: { code: 'template-refused', message: 'The template was disabled' },
}

/** Template errors have their own range of codes, to which the network keeps adding. */
const templateFailure = {
  code: 'template-refused',
  message: 'The network does not send this template so',
} as const
/** The failure of an error code that concerns this message or its number; undefined for other codes. */
export const toFailure = (number: number): { code: StatusFailure; message: string } | undefined =>
  failures[number] ?? (number >= 132_000 && number < 133_000 ? templateFailure : undefined)

/** Returns a WhatsApp error code that maps to this failure code of ours, to build webhook bodies. */
export function toFailureNumber(code: string): number {
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
    // Errors of the number or the app, not of a message.
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

/** Returns the entries and changes that can be parsed; a malformed one does not affect the others. */
function parseEntries(body: unknown) {
  return bodyShape.parse(body).entry.flatMap((given) => {
    const { data } = entryShape.safeParse(given)
    if (!data) return []
    const changes = (data.changes ?? []).flatMap((each) => changeShape.safeParse(each).data ?? [])
    return [{ id: String(data.id ?? ''), time: data.time, changes }]
  })
}

/**
 * Parses every change of a body into an event of its own. An unknown or malformed change becomes an event of the kind
 * that the provider named, so that it does not affect the others. `storeRef` is the number's id, if there is one.
 * Throws if the body as a whole is not JSON of this format.
 */
export function parseHookBody(rawBody: Uint8Array): ProviderEvent[] {
  const entries = parseEntries(sanitize(JSON.parse(Buffer.from(rawBody).toString('utf8'))))
  const events: ProviderEvent[] = []
  for (const entry of entries) {
    for (const { field, value } of entry.changes) {
      const parsed =
        field === fields.history
          ? toHistoryEvents(value, toInstant)
          : field === fields.addressBook
            ? toAddressBookEvents(value, toInstant)
            : null
      if (parsed) {
        events.push(...parsed)
        continue
      }
      const echoes = field === fields.echo ? echoesShape.safeParse(value).data : undefined
      if (echoes) {
        const numberId = echoes.metadata?.phone_number_id ?? null
        const named = new PersonIndex(echoes.contacts ?? [])
        for (const each of echoes.message_echoes) {
          events.push(
            toEchoEvent(each, numberId, named, toInstant) ??
              toOtherEvent('echo-unknown', entry.id, null, each, numberId),
          )
        }
        continue
      }
      const read = field === 'messages' ? valueShape.safeParse(value) : null
      if (!read?.success) {
        const at = entry.time == null ? null : toInstant(entry.time)
        const known =
          at === null
            ? null
            : (toTemplateEvent(field, value, at) ?? toNumberEvent(field, value, entry.id, at))
        events.push(known ?? toOtherEvent(field, entry.id, entry.time ?? null, value, null))
        continue
      }
      const { metadata, contacts = [], statuses = [], messages = [], errors = [] } = read.data
      const numberId = metadata?.phone_number_id ?? null
      const named = new PersonIndex(contacts)
      for (const each of statuses) {
        events.push(
          toStatusEvent(each, numberId) ?? toOtherEvent('status-unknown', entry.id, null, each, numberId),
        )
      }
      for (const each of errors) {
        events.push(toOtherEvent('number-error', entry.id, entry.time ?? null, each, numberId))
      }
      for (const each of messages) {
        events.push(
          toInboundEvent(each, numberId, named, toInstant) ??
            toOtherEvent('inbound-unknown', entry.id, null, each, numberId),
        )
      }
    }
  }
  return events
}

function toStatusEvent(given: unknown, numberId: string | null): ProviderEvent | null {
  const read = statusShape.safeParse(given)
  const occurredAt = read.success ? toInstant(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, status, biz_opaque_callback_data: key, errors } = read.data
  const { recipient_id: digits, recipient_user_id: userId } = read.data
  const error = status === 'failed' ? (errors?.[0] ?? null) : null
  const failure = error ? toFailure(error.code) : undefined
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

function toOtherEvent(
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
    occurredAt: (time === null ? null : toInstant(time)) ?? new Date(0).toISOString(),
    storeRef: numberId,
    data: { account, value: value ?? null },
  }
}

/** Parses Unix seconds, given as a number or text; the sandbox's timestamps have decimals. */
function toInstant(timestamp: string | number): string | null {
  const ms = Math.round(Number(timestamp) * 1000)
  const at = new Date(ms)
  return ms > 0 && isPlausible(ms) ? at.toISOString() : null
}

export const toTimestamp = (at: Date): string => String(at.getTime() / 1000)

/** The changes of one number in a body. */
export interface NumberChanges {
  numberId: string
  account: string
  statuses: Record<string, unknown>[]
  messages: Record<string, unknown>[]
  contacts: Record<string, unknown>[]
  /** Messages sent from the merchant's own app. */
  echoes?: Record<string, unknown>[]
}

export interface SignedHook {
  headers: Headers
  body: Uint8Array
}

/** Builds a signed body with changes of an account, such as its templates. `time`: as written by `toTimestamp`. */
export const buildAccountHook = (
  secret: string,
  account: string,
  time: string,
  changes: readonly { field: string; value: unknown }[],
): SignedHook =>
  signBody(secret, { object: 'whatsapp_business_account', entry: [{ id: account, time, changes }] })

/** Builds a signed body with the changes of one or more numbers. */
export function buildHook(secret: string, numbers: readonly NumberChanges[]): SignedHook {
  return signBody(secret, {
    object: 'whatsapp_business_account',
    entry: numbers.map((changes) => ({ id: changes.account, changes: toChanges(changes) })),
  })
}

function toChanges({ numberId, statuses, messages, contacts, echoes = [] }: NumberChanges) {
  const head = { messaging_product: 'whatsapp', metadata: { phone_number_id: numberId } }
  const value = {
    ...head,
    ...(statuses.length > 0 ? { statuses } : {}),
    ...(messages.length > 0 ? { messages, contacts } : {}),
  }
  if (echoes.length === 0) return [{ field: 'messages', value }]
  const echoed = { field: fields.echo, value: { ...head, message_echoes: echoes } }
  return statuses.length + messages.length === 0 ? [echoed] : [{ field: 'messages', value }, echoed]
}

function signBody(secret: string, content: unknown): SignedHook {
  const body = Buffer.from(JSON.stringify(content))
  return {
    headers: new Headers({
      'content-type': 'application/json',
      [signatureHeader]: sign(secret, body),
    }),
    body,
  }
}
