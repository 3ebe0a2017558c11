/**
 * The messaging provider of the sandbox: what it accepts is kept in the database, one row a key. A phone that ends in
 * `0001` is not on the network, `0002` fails after it was accepted, `0003` reads and answers STOP, all others read.
 */
import { CompiledQuery } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { Clock } from '../../clock.ts'
import { newId } from '../../ids.ts'
import { Refused, Throttled, Unavailable } from '../errors.ts'
import type { ProviderEvent, ProviderStore } from '../provider.ts'
import {
  failureNumber,
  hookBody,
  isSigned,
  type MessageStatus,
  type NumberChanges,
  parseHookBody,
  type SignedHook,
  timestampOf,
} from './hook-body.ts'
import type { Accepted, ConnectionType, MessagingPort, Send } from './port.ts'
import { sandboxConversations } from './sandbox-conversations.ts'

/** `down`: nothing is taken. `timeout`: taken, but the answer is lost. `throttle`: asked to slow down. */
export type SandboxMode = 'up' | 'down' | 'timeout' | 'throttle'

export interface SandboxMessage {
  id: string
  providerMessageId: string
  idempotencyKey: string
  /** How often it was sent under its key. */
  calls: number
  phone: string
  kind: 'text' | 'media' | 'template'
  via: ConnectionType
  /** As it was given: text, media, template and parameters. */
  content: Record<string, unknown>
  sentAt: Date
}

export interface SandboxInbound {
  numberId: string
  phone: string
  name?: string | null
  text?: string | null
  /** Of the provider: `text` unless said. */
  type?: string
  /** Of an image, a video…: `image/jpeg` and its like; a common one of the type unless said. */
  mediaType?: string
  /** The message that a reaction is about, or that is answered. */
  refersTo?: string
  occurredAt?: Date
  /** The same id is the same message. */
  providerMessageId?: string
}

const throttleMs = 2_000
const hookMessages = 500
const sharedNumber = 'sandbox-shared'

/** The id of the number that a store's messages leave through. */
export const sandboxNumberId = (storeId: string, via: ConnectionType): string =>
  via === 'shared' ? sharedNumber : `sandbox-${storeId}`

/** What becomes of a message, in order, and how long after it was accepted. */
interface Step {
  afterMs: number
  happens: MessageStatus | 'stop'
}
const fails: readonly Step[] = [{ afterMs: 500, happens: 'failed' }]
const isRead: readonly Step[] = [
  { afterMs: 500, happens: 'delivered' },
  { afterMs: 1_000, happens: 'read' },
]
const stops: readonly Step[] = [...isRead, { afterMs: 2_500, happens: 'stop' }]
const stepsOf = (phone: string): readonly Step[] =>
  phone.endsWith('0002') ? fails : phone.endsWith('0003') ? stops : isRead

// One statement a send: a campaign makes hundreds a second, on PGlite too.
const sendText = `
  with mode as (
    select coalesce((select m.mode from sandbox_modes m where m.store_id = $1 and m.port = 'messaging'), 'up') as mode),
  taken as (
    insert into sandbox_messages
      (store_id, id, idempotency_key, provider_message_id, phone, kind, content, sent_at, next_event_at)
    select $1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::jsonb, $8::timestamptz, $9::timestamptz
    from mode where mode.mode in ('up', 'timeout') and $10::boolean
    on conflict (idempotency_key) do update set calls = sandbox_messages.calls + 1
    returning provider_message_id)
  select mode.mode, taken.provider_message_id from mode left join taken on true`

interface DueRow {
  id: string
  store_id: string
  idempotency_key: string
  provider_message_id: string
  phone: string
  via: ConnectionType
  stage: number
  sent_at: Date
}

export class SandboxMessaging implements MessagingPort {
  readonly capabilities = { idempotentSend: true, qr: true, shared: true }
  readonly #db: RootDatabase
  readonly #clock: Clock
  readonly #secret: string
  readonly #perSecond: number

  constructor(options: { db: RootDatabase; clock: Clock; appSecret: string; perSecond: number }) {
    this.#db = options.db
    this.#clock = options.clock
    this.#secret = options.appSecret
    this.#perSecond = options.perSecond
  }

  sendText: MessagingPort['sendText'] = (store, message) =>
    this.#send(store, 'text', message, { text: message.text })

  sendMedia: MessagingPort['sendMedia'] = (store, message) =>
    this.#send(store, 'media', message, { media: message.media, text: message.text })

  sendTemplate: MessagingPort['sendTemplate'] = (store, message) => {
    const { template, parameters, headerMediaUrl } = message
    return this.#send(store, 'template', message, { template, parameters, headerMediaUrl })
  }

  async #send(
    store: ProviderStore,
    kind: SandboxMessage['kind'],
    message: Send,
    content: Record<string, unknown>,
  ): Promise<Accepted> {
    const now = this.#clock.ms()
    const id = newId(now)
    const isReachable = !message.phone.endsWith('0001')
    const { rows } = await this.#db.executeQuery<{ mode: SandboxMode; provider_message_id: string | null }>(
      CompiledQuery.raw(sendText, [
        store.id,
        id,
        message.idempotencyKey,
        `wamid.${id}`,
        message.phone,
        kind,
        JSON.stringify({ ...content, via: message.via, replyTo: message.replyTo ?? null }),
        new Date(now),
        new Date(now + stepsOf(message.phone)[0]!.afterMs),
        isReachable,
      ]),
    )
    const { mode, provider_message_id: providerMessageId } = rows[0]!
    if (mode === 'down') throw new Unavailable('no', 'The sandbox is set to be down')
    if (mode === 'throttle') throw new Throttled(throttleMs)
    if (mode === 'timeout') throw new Unavailable('unknown', 'The sandbox is set to lose its answers')
    if (!providerMessageId) throw new Refused('not-on-network', 'The phone is not on the network')
    return { providerMessageId }
  }

  markRead: NonNullable<MessagingPort['markRead']> = (store, message) =>
    sandboxConversations(this.#db).markRead(store, message)
  fetchMedia: NonNullable<MessagingPort['fetchMedia']> = (store, media) =>
    sandboxConversations(this.#db).fetchMedia(store, media)
  history: NonNullable<MessagingPort['history']> = (store, since) =>
    sandboxConversations(this.#db).history(store, since)

  async sendLimits(): Promise<{ perSecond: number; perDay: number | null }> {
    return { perSecond: this.#perSecond, perDay: null }
  }

  verifySignature(headers: Headers, rawBody: Uint8Array): boolean {
    return isSigned(this.#secret, headers, rawBody)
  }

  parseEvents(rawBody: Uint8Array): ProviderEvent[] {
    return parseHookBody(rawBody)
  }

  /**
   * What has happened to messages until this call, oldest first, as signed bodies of at most `atMost` messages. A
   * body's messages move on once the next one is asked for: who dies before gets them again, under the same keys.
   */
  async *dueEvents(atMost = hookMessages): AsyncGenerator<SignedHook, void, void> {
    const now = this.#clock.ms()
    for (;;) {
      const due = await this.#due(now, atMost)
      if (due.length === 0) return
      const moved = due.map((row) => {
        const steps = stepsOf(row.phone)
        const sentAt = row.sent_at.getTime()
        const over = steps.filter((step, at) => at >= row.stage && sentAt + step.afterMs <= now)
        const stage = row.stage + over.length
        const next = steps[stage]
        return { row, over, stage, nextAt: next ? new Date(sentAt + next.afterMs).toISOString() : null }
      })
      yield hookBody(this.#secret, changesOf(moved))
      await this.#moveOn(moved.map(({ row, stage, nextAt }) => ({ id: row.id, stage, next_at: nextAt })))
    }
  }

  async #due(now: number, atMost: number): Promise<DueRow[]> {
    const text = `
      select id, store_id, idempotency_key, provider_message_id, phone, content->>'via' as via, stage, sent_at
      from sandbox_messages where next_event_at <= $1 order by next_event_at, id limit $2`
    return (await this.#db.executeQuery<DueRow>(CompiledQuery.raw(text, [new Date(now), atMost]))).rows
  }

  async #moveOn(moved: { id: string; stage: number; next_at: string | null }[]): Promise<void> {
    const text = `
      update sandbox_messages m set stage = d.stage, next_event_at = d.next_at
      from json_to_recordset($1::json) as d(id uuid, stage integer, next_at timestamptz)
      where m.id = d.id and m.stage < d.stage`
    await this.#db.executeQuery(CompiledQuery.raw(text, [JSON.stringify(moved)]))
  }

  /** The signed body of a message that somebody writes to a number. */
  inbound(message: SandboxInbound): SignedHook {
    const at = message.occurredAt ?? this.#clock.now()
    const changes = emptyChanges(message.numberId, 'sandbox')
    addInbound(changes, {
      ...message,
      providerMessageId: message.providerMessageId ?? `wamid.${newId(at.getTime())}`,
      at,
    })
    return hookBody(this.#secret, [changes])
  }

  /** The signed body of one status of a message that left; null when there is no such message. `code`: of a failure. */
  async status(
    storeId: string,
    change: { providerMessageId: string; status: MessageStatus; code?: string },
  ): Promise<SignedHook | null> {
    const row = await this.#db
      .selectFrom('sandbox_messages')
      .select(['idempotency_key', 'provider_message_id', 'phone', 'content'])
      .where('store_id', '=', storeId)
      .where('provider_message_id', '=', change.providerMessageId)
      .executeTakeFirst()
    if (!row) return null
    const { via } = row.content as { via: ConnectionType }
    const changes = emptyChanges(sandboxNumberId(storeId, via), `sandbox-account-${storeId}`)
    changes.statuses.push(statusChange(row, change.status, this.#clock.now(), change.code))
    return hookBody(this.#secret, [changes])
  }

  /** The messages of a store that left, newest first; `phone` in E.164. */
  async outbox(storeId: string, phone?: string): Promise<SandboxMessage[]> {
    let query = this.#db.selectFrom('sandbox_messages').selectAll().where('store_id', '=', storeId)
    if (phone !== undefined) query = query.where('phone', '=', phone)
    const rows = await query.orderBy('sent_at', 'desc').orderBy('id', 'desc').execute()
    return rows.map((row) => {
      const { via, ...content } = row.content as { via: ConnectionType } & Record<string, unknown>
      return {
        id: row.id,
        providerMessageId: row.provider_message_id,
        idempotencyKey: row.idempotency_key,
        calls: row.calls,
        phone: row.phone,
        kind: row.kind as SandboxMessage['kind'],
        via,
        content,
        sentAt: row.sent_at,
      }
    })
  }

  /** How the provider behaves for a store from now on. */
  async setMode(storeId: string, mode: SandboxMode): Promise<void> {
    await this.#db
      .insertInto('sandbox_modes')
      .values({ store_id: storeId, port: 'messaging', mode })
      .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet({ mode }))
      .execute()
  }
}

export const sandboxMessaging = (
  options: ConstructorParameters<typeof SandboxMessaging>[0],
): SandboxMessaging => new SandboxMessaging(options)

/** The sandbox among the adapters, with what only it can do. */
export function sandboxOf(adapters: Readonly<Record<string, MessagingPort>>): SandboxMessaging {
  const port = adapters.sandbox
  if (!(port instanceof SandboxMessaging)) throw new Error('This server has no messaging sandbox')
  return port
}

/** The changes of some messages, by the number they left through: bodies of a real provider hold several too. */
function changesOf(moved: readonly { row: DueRow; over: readonly Step[] }[]): NumberChanges[] {
  const numbers = new Map<string, NumberChanges>()
  for (const { row, over } of moved) {
    const numberId = sandboxNumberId(row.store_id, row.via)
    const changes = numbers.get(numberId) ?? emptyChanges(numberId, `sandbox-account-${row.store_id}`)
    numbers.set(numberId, changes)
    for (const { afterMs, happens } of over) {
      const at = new Date(row.sent_at.getTime() + afterMs)
      if (happens !== 'stop') changes.statuses.push(statusChange(row, happens, at))
      else {
        const providerMessageId = `${row.provider_message_id}.reply`
        addInbound(changes, { phone: row.phone, text: 'STOP', providerMessageId, at })
      }
    }
  }
  return [...numbers.values()]
}

const emptyChanges = (numberId: string, account: string): NumberChanges => ({
  numberId,
  account,
  statuses: [],
  messages: [],
  contacts: [],
})

function statusChange(
  row: Pick<DueRow, 'provider_message_id' | 'phone' | 'idempotency_key'>,
  status: MessageStatus,
  at: Date,
  code = 'undelivered',
): Record<string, unknown> {
  return {
    id: row.provider_message_id,
    status,
    timestamp: timestampOf(at),
    recipient_id: row.phone.slice(1),
    biz_opaque_callback_data: row.idempotency_key,
    ...(status === 'failed' ? { errors: [{ code: failureNumber(code), title: code }] } : {}),
  }
}

function addInbound(
  changes: NumberChanges,
  message: Omit<SandboxInbound, 'numberId'> & { providerMessageId: string; at: Date },
): void {
  const { phone, name, type = 'text', text } = message
  const words =
    type === 'text'
      ? { text: { body: text ?? '' } }
      : type === 'button'
        ? { button: { text } }
        : { [type]: partsOf(type, message) }
  const { refersTo } = message
  changes.messages.push({
    ...(refersTo && type !== 'reaction' ? { context: { id: refersTo } } : {}),
    from: phone.slice(1),
    id: message.providerMessageId,
    timestamp: timestampOf(message.at),
    type,
    ...words,
  })
  changes.contacts.push({ wa_id: phone.slice(1), profile: name ? { name } : {} })
}

const mediaTypes: Readonly<Record<string, string>> = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/amr',
  document: 'application/pdf',
  sticker: 'image/webp',
}

/** The parts that the network sends of a type. */
function partsOf(
  type: string,
  { text, mediaType = mediaTypes[type], providerMessageId, refersTo }: Omit<SandboxInbound, 'numberId'>,
): Record<string, unknown> {
  if (type === 'reaction') return { emoji: text ?? '👍', message_id: refersTo ?? '' }
  if (type === 'location') return { latitude: -23.5614, longitude: -46.6559, name: text ?? null }
  if (!mediaType) return { caption: text }
  return {
    id: `sandbox-media:${mediaType}:${providerMessageId ?? ''}`,
    mime_type: mediaType,
    ...(type === 'document' ? { filename: 'document.pdf' } : {}),
    ...(text ? { caption: text } : {}),
  }
}
