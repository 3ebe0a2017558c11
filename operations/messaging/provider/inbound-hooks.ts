/**
 * What people wrote, in the form of the WhatsApp Business Cloud API: to the number, by the merchant's own app, and
 * before the number was connected; and what they changed or took back of it.
 */

import type { ProviderEvent } from '#runtime/ports/provider'
import { z } from '#runtime/schema'

/** `data` of an event of kind `inbound`, and of `echo`: what the merchant wrote in the provider's own app. */
export interface InboundData {
  providerMessageId: string
  /** Who wrote, or to whom the merchant did: E.164, or `userId` of who shows no phone. */
  phone: string
  /** The provider's own id of that person for this business; null where it names none. */
  userId: string | null
  name: string | null
  /** The provider's word: `text`, `image`, `button`, `reaction`… */
  type: string
  /** Text, caption or the button that was pressed. */
  text: string | null
  /** The provider's own parts of it (media ids, location…), as they came. */
  content: unknown
}

/** `data` of an event of kind `history`: a message from before the number was connected. */
export interface HistoryData extends InboundData {
  direction: 'inbound' | 'outbound'
}

/** `data` of an event of kind `message-change`: its writer changed a message, or took it back. */
export interface MessageChangeData {
  /** Of the message that is changed. */
  providerMessageId: string
  /** Null: it was taken back. */
  change: { text: string | null } | null
}

/** `data` of an event of kind `person-change`: somebody goes by another phone or id from now on. */
export interface PersonChangeData {
  before: { phone: string | null; userId: string | null }
  now: { phone: string | null; userId: string | null }
}

/** `data` of an event of kind `address-book`: how the merchant's own app calls somebody. */
export interface AddressBookData {
  phone: string
  name: string | null
}

const phoneShape = z.string().regex(/^\+?\d{5,20}$/)
/** As the network makes them: the country, a dot, and at most 128 letters and digits; of a group of businesses with `ENT`. */
const userIdShape = z.string().regex(/^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/)
const time = z.union([z.string(), z.number()])
const words = z.object({ body: z.string() }).partial().nullish()
// Their other parts are kept: media ids, ids of buttons.
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

/** What the merchant wrote on the phone comes under names of its own. */
export const fields = {
  echo: 'smb_message_echoes',
  history: 'history',
  addressBook: 'smb_app_state_sync',
} as const

type Parts = { [K in keyof typeof parts]?: z.infer<(typeof parts)[K]> }

/** Text, caption or what was pressed. */
const wordsOf = ({ text, image, video, document, button, interactive }: Parts): string | null =>
  text?.body ??
  button?.text ??
  interactive?.button_reply?.title ??
  interactive?.list_reply?.title ??
  image?.caption ??
  video?.caption ??
  document?.caption ??
  null

/** Who is named beside the messages: by phone and by id. */
export class Named {
  readonly #names = new Map<string, string>()
  /** The one person of the body; null where there are several, or none. */
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

  /** The person of a message: what it says, and where it says nothing, what stands beside it. */
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
type InstantOf = (timestamp: string | number) => string | null

/** A message to the number; a change of one, or of a person, is an event of its own. Null where it cannot be read. */
export function inboundEvent(
  given: unknown,
  numberId: string | null,
  named: Named,
  instantOf: InstantOf,
): ProviderEvent | null {
  const told = changeEvent(given, numberId, instantOf) ?? systemEvent(given, numberId, instantOf)
  if (told) return told
  const read = messageShape.safeParse(given)
  const occurredAt = read.success ? instantOf(read.data.timestamp) : null
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
    data: dataOf(read.data, person),
  }
}

function dataOf(message: z.infer<typeof messageShape>, person: Person): InboundData {
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
  return { providerMessageId: id, ...person, type, text: wordsOf(content), content }
}

/** What the merchant wrote in the provider's own app. */
export function echoEvent(
  given: unknown,
  numberId: string | null,
  named: Named,
  instantOf: InstantOf,
): ProviderEvent | null {
  const told = changeEvent(given, numberId, instantOf)
  if (told) return told
  const read = messageShape.safeParse(given)
  const occurredAt = read.success ? instantOf(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, to, to_user_id: userId } = read.data
  const person = named.personOf(to ?? null, userId ?? null)
  if (!person) return null
  const data: InboundData = { ...dataOf(read.data, person), name: null }
  return { key: `echo:${id}`, kind: 'echo', occurredAt, storeRef: numberId, data }
}

function changeEvent(given: unknown, numberId: string | null, instantOf: InstantOf): ProviderEvent | null {
  const read = changeShape.safeParse(given)
  const occurredAt = read.success ? instantOf(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, type, edit, revoke } = read.data
  const original = (type === 'edit' ? edit : revoke)?.original_message_id
  if (!original) return null
  const data: MessageChangeData = {
    providerMessageId: original,
    change: type === 'edit' ? { text: wordsOf(edit?.message ?? {}) } : null,
  }
  return { key: `message-change:${id}`, kind: 'message-change', occurredAt, storeRef: numberId, data }
}

const plus = (digits: string | null | undefined): string | null =>
  digits ? `+${digits.replace(/^\+/, '')}` : null

function systemEvent(given: unknown, numberId: string | null, instantOf: InstantOf): ProviderEvent | null {
  const read = systemShape.safeParse(given)
  const occurredAt = read.success ? instantOf(read.data.timestamp) : null
  if (!read.success || !occurredAt) return null
  const { id, from, from_user_id: userId, system } = read.data
  if (!['user_changed_number', 'user_changed_user_id'].includes(system.type)) return null
  const data: PersonChangeData = {
    before: { phone: plus(from), userId: userId ?? null },
    now: { phone: plus(system.wa_id), userId: system.user_id ?? null },
  }
  return { key: `person-change:${id}`, kind: 'person-change', occurredAt, storeRef: numberId, data }
}

/** The messages of a body of the field `history`; null where it has another form. */
export function historyEvents(value: unknown, instantOf: InstantOf): ProviderEvent[] | null {
  const read = historyShape.safeParse(value)
  if (!read.success) return null
  const { metadata, history } = read.data
  const numberId = metadata?.phone_number_id ?? null
  const own = (metadata?.display_phone_number ?? '').replace(/\D/g, '')
  return history.flatMap(({ threads }) =>
    threads.flatMap(({ id: other, messages }) => {
      const named = new Named(other ? [{ wa_id: other }, { user_id: other }] : [])
      return messages.flatMap((given) => {
        const message = messageShape.safeParse(given).data
        const occurredAt = message ? instantOf(message.timestamp) : null
        if (!message || !occurredAt || message.type === 'errors') return []
        const from = message.from?.replace(/^\+/, '')
        const isOwn = from !== undefined && from === own
        const person = isOwn
          ? named.personOf(
              message.to ?? phoneShape.safeParse(other).data ?? null,
              message.to_user_id ?? userOf(other),
            )
          : named.personOf(
              message.from ?? null,
              message.from_user_id ?? (message.from ? null : userOf(other)),
            )
        if (!person) return []
        const data: HistoryData = {
          ...dataOf(message, person),
          direction: isOwn ? 'outbound' : 'inbound',
        }
        return [{ key: `history:${message.id}`, kind: 'history', occurredAt, storeRef: numberId, data }]
      })
    }),
  )
}

const userOf = (text: string | null | undefined): string | null => userIdShape.safeParse(text).data ?? null

/** How the merchant's own app calls people; null where the body has another form. */
export function addressBookEvents(value: unknown, instantOf: InstantOf): ProviderEvent[] | null {
  const read = addressBookShape.safeParse(value)
  if (!read.success) return null
  const { metadata, state_sync: entries } = read.data
  const numberId = metadata?.phone_number_id ?? null
  return entries.flatMap(({ type, action, contact, metadata: told }) => {
    const phone = plus(phoneShape.safeParse(contact?.phone_number?.replace(/[^\d+]/g, '')).data)
    const occurredAt = told?.timestamp === undefined ? null : instantOf(told.timestamp)
    if (type !== 'contact' || !phone || !occurredAt) return []
    const name = action === 'remove' ? null : contact?.full_name || contact?.first_name || null
    const data: AddressBookData = { phone, name }
    const key = `address-book:${numberId ?? ''}:${phone}:${occurredAt}`
    return [{ key, kind: 'address-book', occurredAt, storeRef: numberId, data }]
  })
}
