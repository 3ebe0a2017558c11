/**
 * Parses webhook messages in the format of the WhatsApp Business Cloud API: messages to the number, messages that the
 * merchant wrote in the provider's own app, and messages from before the number was connected; also their edits and
 * deletions.
 */

import type { ProviderEvent } from '#runtime/ports/provider'
import { z } from '#runtime/schema'

/** `data` of an event of kind `inbound`, and of `echo`: a message that the merchant wrote in the provider's own app. */
export interface InboundData {
  providerMessageId: string
  /** The sender, or for an echo the recipient: E.164, or `userId` if the phone is hidden. */
  phone: string
  /** The provider's id of that person for this business; null if absent. */
  userId: string | null
  name: string | null
  /** The provider's type: `text`, `image`, `button`, `reaction`… */
  type: string
  /** Text, caption or the pressed button. */
  text: string | null
  /** The type-specific parts as received (media ids, location…). */
  content: unknown
}

/** `data` of an event of kind `history`: a message from before the number was connected. */
export interface HistoryData extends InboundData {
  direction: 'inbound' | 'outbound'
}

/** `data` of an event of kind `message-change`: a message was edited or deleted by its sender. */
export interface MessageChangeData {
  /** The message that is changed. */
  providerMessageId: string
  /** Null if the message was deleted. */
  change: { text: string | null } | null
}

/** `data` of an event of kind `person-change`: a person has a new phone or id. */
export interface PersonChangeData {
  before: { phone: string | null; userId: string | null }
  now: { phone: string | null; userId: string | null }
}

/** `data` of an event of kind `address-book`: a person's name in the merchant's own app. */
export interface AddressBookData {
  phone: string
  name: string | null
}

const phoneShape = z.string().regex(/^\+?\d{5,20}$/)
/** The network's format: the country, a dot, and at most 128 letters and digits; `ENT` for a group of businesses. */
const userIdShape = z.string().regex(/^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/)
const time = z.union([z.string(), z.number()])
const words = z.object({ body: z.string() }).partial().nullish()
// Other parts (media ids, ids of buttons) are kept.
const captioned = z.object({ caption: z.string() }).partial().passthrough().nullish()
const titled = z.object({ title: z.string() }).partial().passthrough().nullish()
const parts = {
  text: words,
  image: captioned,
  video: captioned,
  document: captioned,
  button: z.object({ text: z.string() }).partial().passthrough().nullish(),
  interactive: z.object({ button_reply: titled, list_reply: titled }).partial().passthrough().nullish(),
}
const messageShape = z
  .object({
    id: z.string().min(1),
    from: phoneShape.nullish().catch(null),
    from_user_id: userIdShape.nullish().catch(null),
    to: phoneShape.nullish().catch(null),
    to_user_id: userIdShape.nullish().catch(null),
    timestamp: time,
    type: z.string(),
    ...parts,
  })
  .passthrough()
const changeShape = z.object({
  type: z.enum(['edit', 'revoke']),
  id: z.string().min(1),
  timestamp: time,
  edit: z
    .object({ original_message_id: z.string().min(1), message: z.object(parts).partial().nullish() })
    .nullish(),
  revoke: z.object({ original_message_id: z.string().min(1) }).nullish(),
})
const systemShape = z.object({
  type: z.literal('system'),
  id: z.string().min(1),
  timestamp: time,
  from: phoneShape.nullish().catch(null),
  from_user_id: userIdShape.nullish().catch(null),
  system: z.object({
    type: z.string(),
    wa_id: phoneShape.nullish().catch(null),
    user_id: userIdShape.nullish().catch(null),
    // Since 11 August 2026.
    previous_user_id: userIdShape.nullish().catch(null),
  }),
})
const contactShape = z.object({
  wa_id: z.string().nullish(),
  user_id: z.string().nullish(),
  profile: z.object({ name: z.string(), username: z.string() }).partial().nullish(),
})
const threadShape = z.object({ id: z.string().nullish(), messages: z.array(z.unknown()).default([]) })
const historyShape = z.object({
  metadata: z.object({ phone_number_id: z.string(), display_phone_number: z.string() }).partial().optional(),
  history: z.array(z.object({ threads: z.array(threadShape).default([]) })),
})
const addressBookShape = z.object({
  metadata: z.object({ phone_number_id: z.string() }).partial().optional(),
  state_sync: z.array(
    z.object({
      type: z.string(),
      action: z.string().nullish(),
      contact: z
        .object({ full_name: z.string(), first_name: z.string(), phone_number: z.string() })
        .partial()
        .nullish(),
      metadata: z.object({ timestamp: time }).partial().nullish(),
    }),
  ),
})

/** Names of the webhook fields with data from the merchant's own app. */
export const fields = {
  echo: 'smb_message_echoes',
  history: 'history',
  addressBook: 'smb_app_state_sync',
} as const

type Parts = { [K in keyof typeof parts]?: z.infer<(typeof parts)[K]> }

/** Text, caption or the pressed button. */
const readText = ({ text, image, video, document, button, interactive }: Parts): string | null =>
  text?.body ??
  button?.text ??
  interactive?.button_reply?.title ??
  interactive?.list_reply?.title ??
  image?.caption ??
  video?.caption ??
  document?.caption ??
  null

/** The people listed next to the messages, by phone and by id. */
export class PersonIndex {
  readonly #names = new Map<string, string>()
  /** The only person of the body; null if there are several, or none. */
  readonly #only: { phone: string | null; userId: string | null } | null

  constructor(contacts: readonly unknown[]) {
    const known = contacts.flatMap((each) => contactShape.safeParse(each).data ?? [])
    for (const { wa_id: digits, user_id: userId, profile } of known) {
      const name = profile?.name || profile?.username
      if (!name) continue
      if (digits) this.#names.set(digits.replace(/^\+/, ''), name)
      if (userId) this.#names.set(userId, name)
    }
    const [first] = known
    this.#only =
      first && known.length === 1
        ? {
            phone: phoneShape.safeParse(first.wa_id).data ?? null,
            userId: userIdShape.safeParse(first.user_id).data ?? null,
          }
        : null
  }

  /** Returns the person of a message: from the message's own fields, completed from the listed people. */
  personOf(from: string | null, ofUser: string | null): Person | null {
    const userId = ofUser ?? this.#only?.userId ?? null
    const digits = (from ?? (ofUser ? null : this.#only?.phone) ?? '').replace(/^\+/, '')
    const phone = digits ? `+${digits}` : userId
    if (!phone) return null
    const name = this.#names.get(digits) ?? (userId ? this.#names.get(userId) : undefined)
    return { phone, userId, name: name ?? null }
  }
}

type Person = Pick<InboundData, 'phone' | 'userId' | 'name'>
type ToInstant = (timestamp: string | number) => string | null

/**
 * Parses a message to the number; an edit, a deletion or a person's change becomes an event of its own kind. Null if
 * malformed.
 */
export function toInboundEvent(
  given: unknown,
  numberId: string | null,
  named: PersonIndex,
  toInstant: ToInstant,
): ProviderEvent | null {
  const change = toChangeEvent(given, numberId, toInstant) ?? toSystemEvent(given, numberId, toInstant)
  if (change) return change
  const read = messageShape.safeParse(given)
  const occurredAt = read.success ? toInstant(read.data.timestamp) : null
  if (!read.success || !occurredAt || read.data.type === 'system') return null
  const { from, from_user_id: userId } = read.data
  const person = named.personOf(from ?? null, userId ?? null)
  if (!person) return null
  const { id } = read.data
  return {
    key: `inbound:${id}`,
    kind: 'inbound',
    occurredAt,
    storeRef: numberId,
    data: toInboundData(read.data, person),
  }
}

function toInboundData(message: z.infer<typeof messageShape>, person: Person): InboundData {
  const {
    id,
    from: _from,
    from_user_id: _fromUser,
    to: _to,
    to_user_id: _toUser,
    timestamp: _read,
    type,
    ...content
  } = message
  return { providerMessageId: id, ...person, type, text: readText(content), content }
}

/** Parses a message that the merchant wrote in the provider's own app. */
export function toEchoEvent(
  given: unknown,
  numberId: string | null,
  named: PersonIndex,
  toInstant: ToInstant,
): ProviderEvent | null {
  const change = toChangeEvent(given, numberId, toInstant)
  if (change) return change
  const read = messageShape.safeParse(given)
  const occurredAt = read.success ? toInstant(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, to, to_user_id: userId } = read.data
  const person = named.personOf(to ?? null, userId ?? null)
  if (!person) return null
  const data: InboundData = { ...toInboundData(read.data, person), name: null }
  return { key: `echo:${id}`, kind: 'echo', occurredAt, storeRef: numberId, data }
}

function toChangeEvent(given: unknown, numberId: string | null, toInstant: ToInstant): ProviderEvent | null {
  const read = changeShape.safeParse(given)
  const occurredAt = read.success ? toInstant(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, type, edit, revoke } = read.data
  const original = (type === 'edit' ? edit : revoke)?.original_message_id
  if (!original) return null
  const data: MessageChangeData = {
    providerMessageId: original,
    change: type === 'edit' ? { text: readText(edit?.message ?? {}) } : null,
  }
  return { key: `message-change:${id}`, kind: 'message-change', occurredAt, storeRef: numberId, data }
}

const toE164 = (digits: string | null | undefined): string | null =>
  digits ? `+${digits.replace(/^\+/, '')}` : null

function toSystemEvent(given: unknown, numberId: string | null, toInstant: ToInstant): ProviderEvent | null {
  const read = systemShape.safeParse(given)
  const occurredAt = read.success ? toInstant(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, from, from_user_id: userId, system } = read.data
  if (!['user_changed_number', 'user_changed_user_id'].includes(system.type)) return null
  const data: PersonChangeData = {
    before: { phone: toE164(from), userId: system.previous_user_id ?? userId ?? null },
    now: { phone: toE164(system.wa_id), userId: system.user_id ?? null },
  }
  return { key: `person-change:${id}`, kind: 'person-change', occurredAt, storeRef: numberId, data }
}

/** Parses the messages of a `history` body; null if malformed. */
export function toHistoryEvents(value: unknown, toInstant: ToInstant): ProviderEvent[] | null {
  const read = historyShape.safeParse(value)
  if (!read.success) return null
  const { metadata, history } = read.data
  const numberId = metadata?.phone_number_id ?? null
  const own = (metadata?.display_phone_number ?? '').replace(/\D/g, '')
  return history.flatMap(({ threads }) =>
    threads.flatMap(({ id: other, messages }) => {
      const named = new PersonIndex(other ? [{ wa_id: other }, { user_id: other }] : [])
      return messages.flatMap((given) => {
        const message = messageShape.safeParse(given).data
        const occurredAt = message ? toInstant(message.timestamp) : null
        if (!message || !occurredAt || message.type === 'errors') return []
        const from = message.from?.replace(/^\+/, '')
        const isOwn = from !== undefined && from === own
        const person = isOwn
          ? named.personOf(
              message.to ?? phoneShape.safeParse(other).data ?? null,
              message.to_user_id ?? readUserId(other),
            )
          : named.personOf(
              message.from ?? null,
              message.from_user_id ?? (message.from ? null : readUserId(other)),
            )
        if (!person) return []
        const data: HistoryData = {
          ...toInboundData(message, person),
          direction: isOwn ? 'outbound' : 'inbound',
        }
        return [{ key: `history:${message.id}`, kind: 'history', occurredAt, storeRef: numberId, data }]
      })
    }),
  )
}

const readUserId = (text: string | null | undefined): string | null =>
  userIdShape.safeParse(text).data ?? null

/** Parses the names in the merchant's own app; null if malformed. */
export function toAddressBookEvents(value: unknown, toInstant: ToInstant): ProviderEvent[] | null {
  const read = addressBookShape.safeParse(value)
  if (!read.success) return null
  const { metadata, state_sync: entries } = read.data
  const numberId = metadata?.phone_number_id ?? null
  return entries.flatMap(({ type, action, contact, metadata }) => {
    const phone = toE164(phoneShape.safeParse(contact?.phone_number?.replace(/[^\d+]/g, '')).data)
    const occurredAt = metadata?.timestamp === undefined ? null : toInstant(metadata.timestamp)
    if (type !== 'contact' || !phone || !occurredAt) return []
    const name = action === 'remove' ? null : contact?.full_name || contact?.first_name || null
    const data: AddressBookData = { phone, name }
    const key = `address-book:${numberId ?? ''}:${phone}:${occurredAt}`
    return [{ key, kind: 'address-book', occurredAt, storeRef: numberId, data }]
  })
}
