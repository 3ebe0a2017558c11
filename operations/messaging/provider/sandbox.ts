/**
 * The sandbox's messaging provider: stores accepted messages in the database, one row per key. The end of a phone decides
 * what happens to its messages. `0001`: the phone is not on the network. `0002`: the message fails after acceptance.
 * `0003`: it is read, and the phone replies STOP. All other phones read their messages.
 */
import { CompiledQuery } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { Clock } from '#runtime/clock'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import { newId } from '#runtime/values/ids'
import { buildHook, isSigned, type MessageStatus, parseHookBody, type SignedHook } from './hook-body.ts'
import type { Accepted, MessagingPort, Send } from './port.ts'
import {
  addInbound,
  assistant,
  type DueRow,
  emptyChanges,
  getSteps,
  type SandboxInbound,
  sandboxNumberId,
  statusChange,
  toNumberChanges,
} from './sandbox-changes.ts'
import { SandboxInbox } from './sandbox-inbox.ts'
import { SandboxNumbers } from './sandbox-numbers.ts'
import { SandboxQr } from './sandbox-qr.ts'
import { SandboxTemplates } from './sandbox-templates.ts'

export { type SandboxInbound, sandboxNumberId }

/** `down`: accepts nothing. `timeout`: accepts, but the answer is lost. `throttle`: asks to slow down. */
export type SandboxMode = 'up' | 'down' | 'timeout' | 'throttle'

export interface SandboxMessage {
  id: string
  providerMessageId: string
  idempotencyKey: string
  /** How often it was sent under its key. */
  calls: number
  phone: string
  kind: 'text' | 'media' | 'template'
  via: Send['via']
  /** As received: text, media, template and parameters. */
  content: Record<string, unknown>
  sentAt: Date
}

const throttleMs = 2_000
const hookMessages = 500
/** The store of the assistant's answers to phones that belong to no store. */
const noStore = '00000000-0000-0000-0000-000000000000'

// One statement per send: a campaign makes hundreds a second, on PGlite too.
const sendText = `
  with mode as (
    select case when $11::boolean and exists (
        select from sandbox_numbers n where n.store_id = $1 and not n.is_token_valid) then 'denied'
      else coalesce((select m.mode from sandbox_modes m where m.store_id = $1 and m.port = 'messaging'), 'up')
      end as mode),
  taken as (
    insert into sandbox_messages
      (store_id, id, idempotency_key, provider_message_id, phone, kind, content, sent_at, next_event_at)
    select $1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::jsonb, $8::timestamptz, $9::timestamptz
    from mode where mode.mode in ('up', 'timeout') and $10::boolean
    on conflict (idempotency_key) do update set calls = sandbox_messages.calls + 1
    returning provider_message_id)
  select mode.mode, taken.provider_message_id from mode left join taken on true`

interface SandboxOptions {
  db: RootDatabase
  clock: Clock
  appSecret: string
  perSecond: number
  /** This server's address, for the scan and setup pages. */
  publicUrl?: string
}

export class SandboxMessaging implements MessagingPort {
  readonly capabilities = { idempotentSend: true, qr: true, shared: true }
  readonly assistant = assistant
  readonly templates: SandboxTemplates
  readonly numbers: SandboxNumbers
  readonly qr: SandboxQr
  readonly inbox: SandboxInbox
  readonly #options: SandboxOptions
  readonly #db: RootDatabase
  readonly #clock: Clock
  readonly #secret: string
  readonly #perSecond: number

  constructor(options: SandboxOptions) {
    this.#options = options
    this.#db = options.db
    this.#clock = options.clock
    this.#secret = options.appSecret
    this.#perSecond = options.perSecond
    this.templates = new SandboxTemplates(options)
    this.numbers = new SandboxNumbers({ publicUrl: 'http://localhost', ...options })
    this.qr = new SandboxQr(options)
    this.inbox = new SandboxInbox(options)
  }

  /** A copy that writes in the caller's transaction, for the demo and the tests. */
  within(db: RootDatabase): SandboxMessaging {
    return new SandboxMessaging({ ...this.#options, db })
  }

  createTemplate: MessagingPort['createTemplate'] = (store, template) =>
    this.templates.createTemplate(store, template)
  editTemplate: MessagingPort['editTemplate'] = (store, providerId, template) =>
    this.templates.editTemplate(store, providerId, template)
  deleteTemplate: MessagingPort['deleteTemplate'] = (store, template) =>
    this.templates.deleteTemplate(store, template)
  listTemplates: MessagingPort['listTemplates'] = (store, cursor) =>
    this.templates.listTemplates(store, cursor)

  startQr: MessagingPort['startQr'] = (store) => this.qr.startQr(store)
  refreshQr: MessagingPort['refreshQr'] = (store, sessionRef) => this.qr.refreshQr(store, sessionRef)
  stopQr: MessagingPort['stopQr'] = (store) => this.qr.stopQr(store)
  startOfficialSetup: MessagingPort['startOfficialSetup'] = (store, setup) =>
    this.numbers.startOfficialSetup(store, setup)
  finishOfficialSetup: MessagingPort['finishOfficialSetup'] = (store, setup) =>
    this.numbers.finishOfficialSetup(store, setup)
  check: MessagingPort['check'] = async () => [
    { code: 'sandbox', isFine: true, message: 'The sandbox needs nothing' },
  ]
  numberPin: MessagingPort['numberPin'] = () => null
  /** Sandbox numbers have no history. */
  requestHistory: MessagingPort['requestHistory'] = async () => {}
  officialState: MessagingPort['officialState'] = (store) => this.numbers.officialState(store)
  phoneHealth: MessagingPort['phoneHealth'] = (store) => this.numbers.phoneHealth(store)
  releaseOfficial: MessagingPort['releaseOfficial'] = (store) => this.numbers.releaseOfficial(store)
  joinShared: MessagingPort['joinShared'] = (store) => this.numbers.joinShared(store)
  leaveShared: MessagingPort['leaveShared'] = (store) => this.numbers.leaveShared(store)
  markRead: MessagingPort['markRead'] = (store, message) => this.inbox.markRead(store, message)
  fetchMedia: MessagingPort['fetchMedia'] = (store, media) => this.inbox.fetchMedia(store, media)
  history: MessagingPort['history'] = (store, query) => this.inbox.history(store, query)

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
    const { rows } = await this.#db.executeQuery<{
      mode: SandboxMode | 'denied'
      provider_message_id: string | null
    }>(
      CompiledQuery.raw(sendText, [
        store.id,
        id,
        message.idempotencyKey,
        `wamid.${id}`,
        message.phone,
        kind,
        JSON.stringify({ ...content, via: message.via, replyTo: message.replyTo ?? null }),
        new Date(now),
        new Date(now + getSteps(message.phone)[0]!.afterMs),
        isReachable,
        message.via === 'official',
      ]),
    )
    const { mode, provider_message_id: providerMessageId } = rows[0]!
    if (mode === 'denied') throw new Refused('disconnected', 'The token is no longer valid')
    if (mode === 'down') throw new Unavailable('no', 'The sandbox is set to be down')
    if (mode === 'throttle') throw new Throttled(throttleMs)
    if (mode === 'timeout') throw new Unavailable('unknown', 'The sandbox is set to lose its answers')
    if (!providerMessageId) throw new Refused('not-on-network', 'The phone is not on the network')
    return { providerMessageId }
  }

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
   * Yields due status changes, oldest first, as signed bodies of at most `atMost` messages. The messages of a body
   * advance only when the next body is requested, so after a crash the same bodies are sent again, under the same keys.
   */
  async *dueEvents(atMost = hookMessages): AsyncGenerator<SignedHook, void, void> {
    const now = this.#clock.ms()
    for (;;) {
      const due = await this.#due(now, atMost)
      if (due.length === 0) return
      const moved = due.map((row) => {
        const steps = getSteps(row.phone)
        const sentAt = row.sent_at.getTime()
        const over = steps.filter((step, at) => at >= row.stage && sentAt + step.afterMs <= now)
        const stage = row.stage + over.length
        const next = steps[stage]
        return { row, over, stage, nextAt: next ? new Date(sentAt + next.afterMs).toISOString() : null }
      })
      yield buildHook(this.#secret, toNumberChanges(moved))
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

  /** Builds the signed body of a message to a number. */
  inbound(message: SandboxInbound): SignedHook {
    const at = message.occurredAt ?? this.#clock.now()
    const changes = emptyChanges(message.numberId, 'sandbox')
    addInbound(changes, {
      ...message,
      providerMessageId: message.providerMessageId ?? `wamid.${newId(at.getTime())}`,
      at,
    })
    return buildHook(this.#secret, [changes])
  }

  /** Builds the signed body of one status of a sent message; null if there is no such message. `code`: of a failure. */
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
    const { via } = row.content as { via: Send['via'] }
    const changes = emptyChanges(sandboxNumberId(storeId, via), `sandbox-account-${storeId}`)
    changes.statuses.push(statusChange(row, change.status, this.#clock.now(), change.code))
    return buildHook(this.#secret, [changes])
  }

  /**
   * The sent messages of a store, newest first. With `phone` (E.164) it includes the assistant's answers to that phone
   * before it was paired.
   */
  async outbox(storeId: string, phone?: string): Promise<SandboxMessage[]> {
    let query = this.#db.selectFrom('sandbox_messages').selectAll()
    query =
      phone === undefined
        ? query.where('store_id', '=', storeId)
        : // biome-ignore lint/plugin/contact-spelling: what was sent to a number as it was dialled
          query.where('store_id', 'in', [storeId, noStore]).where('phone', '=', phone)
    const rows = await query.orderBy('sent_at', 'desc').orderBy('id', 'desc').execute()
    return rows.map((row) => {
      const { via, ...content } = row.content as { via: Send['via'] } & Record<string, unknown>
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

  /** Sets the provider's behaviour towards a store. */
  async setMode(storeId: string, mode: SandboxMode): Promise<void> {
    await this.#db
      .insertInto('sandbox_modes')
      .values({ store_id: storeId, port: 'messaging', mode })
      .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet({ mode }))
      .execute()
  }
}

export const openSandbox = (options: ConstructorParameters<typeof SandboxMessaging>[0]): SandboxMessaging =>
  new SandboxMessaging(options)

/** The sandbox among the adapters, with its additional methods. */
export function getSandbox(adapters: Readonly<Record<string, MessagingPort>>): SandboxMessaging {
  const port = adapters.sandbox
  if (!(port instanceof SandboxMessaging)) throw new Error('This server has no messaging sandbox')
  return port
}
