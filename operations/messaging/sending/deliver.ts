/** Sends messages to the provider. Every section sends its messages through this file. */

import { attribution, files, metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { pause } from '#runtime/pause'
import {
  AccessLost,
  NumberLimit,
  RecipientThrottled,
  Refused,
  Throttled,
  Unavailable,
} from '#runtime/ports/errors'
import { isConnectionFailure } from '#runtime/ports/retry-delay'
import { countCharacters } from '#runtime/values/truncate'
import { officialRevalidate } from '../handles.ts'
import { countRecipients } from '../numbers/limit.ts'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import { takeRateSlots, throttleNumber } from '../numbers/rate-slots.ts'
import {
  type Connection,
  findRoute,
  findRouteByType,
  findSelectedPort,
  findSelectedRoute,
  type Route,
} from '../numbers/route.ts'
import type { StatusFailure } from '../provider/hook-body.ts'
import type { Accepted, ConnectionType, Media, TemplateSend } from '../provider/port.ts'
import { get as getTemplate, type Template } from '../templates/read.ts'
import { type ProviderErrorCode, toProviderErrorCode } from './codes.ts'
import { memoize } from './memoize.ts'
import { buildSharedText } from './shared-text.ts'

export { isTooFarAhead } from '../numbers/rate-slots.ts'

export type { Connection }

const providerTimeoutMs = 8_000
const retryAfterMs = 15_000

/** The selected connection, or null if it cannot send now. */
export async function findSelected(ctx: Context): Promise<Connection | null> {
  return (await findSelectedRoute(ctx))?.connection ?? null
}

/** The connection that a message would use, or null if it cannot send now. */
export async function findConnection(ctx: Context, via?: 'official'): Promise<Connection | null> {
  return (await findRoute(ctx, via))?.connection ?? null
}

/** Whether the provider deduplicates by idempotency key. */
export async function isIdempotent(ctx: Context, via?: 'official'): Promise<boolean> {
  const port = via ? (await findRouteByType(ctx, via))?.port : await findSelectedPort(ctx)
  return port?.capabilities.idempotentSend ?? false
}

export type Content =
  | { kind: 'text'; text: string; media: Media | null }
  | {
      kind: 'template'
      templateId: number
      parameters: { header: string[]; body: string[]; buttons: string[] }
      media: Media | null
    }

export interface OutgoingMessage {
  /** E.164, or the provider's own id for a person without a visible phone. */
  phone: string
  content: Content
  /** `official` uses the official number (template tests, the inbox); by default the selected connection is used. */
  via?: 'official'
  /** True if `countRecipients` has already counted the recipient against the number's limit. */
  isCounted?: boolean
  /** The provider's id of the message it replies to. */
  replyTo?: string
}

export type SendOutcome =
  | { outcome: 'accepted'; providerMessageId: string }
  /** A permanent error that concerns this recipient only, with a code of rule 5. */
  | { outcome: 'refused'; code: ProviderErrorCode; message: string }
  /** The provider did not accept the message, which may be retried; for `number-limit` only after a day. */
  /** `isDown`: the connection fails, not this message. */
  | { outcome: 'retry'; afterMs: number; reason: 'provider-unavailable' | 'number-limit'; isDown?: true }
  /** `isOfRecipient`: other recipients are not throttled. */
  | { outcome: 'retry'; afterMs: number; reason: 'throttled'; isOfRecipient?: true }
  /** The connection is no longer selected or connected. */
  | { outcome: 'disconnected' }
  /** It is unknown whether the message was accepted. */
  | { outcome: 'unknown' }

/** Sends one message to the provider, outside any transaction, within 8 s. `key`: `<kind>_<message id>_<attempt>`. */
export async function deliver(ctx: Context, message: OutgoingMessage, key: string): Promise<SendOutcome> {
  const { via } = message
  const route = await memoize(ctx, `route ${via ?? ''}`, () => findRoute(ctx, via))
  if (!route) return { outcome: 'disconnected' }
  const content = await files.signLinks(ctx, message.content)
  const { type } = route.connection
  const template =
    content.kind === 'template'
      ? await memoize(ctx, `template ${content.templateId}`, () => getTemplate(ctx, content.templateId))
      : null
  const unfit = checkContent(type, content, template)
  if (unfit) return { outcome: 'refused', ...unfit }
  const signed = { ...message, content }
  if (!template || message.isCounted) return callProvider(ctx, route, signed, template, key)
  const recipients = await countRecipients(ctx, route.connection, [message.phone])
  if (!recipients.has(message.phone)) return { outcome: 'retry', afterMs: dayMs, reason: 'number-limit' }
  const outcome = await callProvider(ctx, route, signed, template, key)
  if (outcome.outcome !== 'accepted' && outcome.outcome !== 'unknown') {
    await recipients.uncount([message.phone])
  }
  return outcome
}

async function callProvider(
  ctx: Context,
  route: Route,
  message: OutgoingMessage,
  template: Template | null,
  key: string,
): Promise<SendOutcome> {
  try {
    const { providerMessageId } = await withProviderTimeout(
      send(ctx, route, message, template, key),
      providerTimeoutMs,
    )
    return { outcome: 'accepted', providerMessageId }
  } catch (error) {
    // Bad credentials: the revalidation updates the number's status and notifies the merchant.
    if (isDisconnection(error) && route.connection.type === 'official') {
      await ctx.queue(officialRevalidate, {})
    }
    return toSendOutcome(ctx, error)
  }
}

const isDisconnection = (error: unknown): boolean =>
  error instanceof AccessLost || (error instanceof Refused && error.code === 'disconnected')

const maxSharedTextLength = 900

/** Checks whether the connection supports the content, without asking the provider. Returns null if it does. */
export function checkContent(
  type: ConnectionType,
  content: Content,
  template: Template | null,
): { code: ProviderErrorCode; message: string } | null {
  if (content.kind === 'template') {
    const message = 'Templates leave through the official number, once they are approved'
    return type === 'official' && template?.status === 'approved'
      ? null
      : { code: 'template-refused', message }
  }
  if (type !== 'shared') return null
  if (content.media) {
    return { code: 'media-refused', message: 'The shared number sends no pictures, videos or documents' }
  }
  const message = `The shared number sends at most ${maxSharedTextLength} characters`
  return countCharacters(content.text) > maxSharedTextLength ? { code: 'too-long', message } : null
}

async function send(
  ctx: Context,
  { connection, port, store }: Route,
  { phone, content, replyTo }: OutgoingMessage,
  template: Template | null,
  idempotencyKey: string,
): Promise<Accepted> {
  const head = { phone, via: connection.type, idempotencyKey, ...(replyTo ? { replyTo } : {}) }
  const { media } = content
  if (content.kind === 'template') {
    const { name, language, header } = template!
    return port.sendTemplate(store, {
      ...head,
      template: { name, language },
      parameters: content.parameters,
      headerMediaUrl: media?.url ?? header?.mediaUrl ?? null,
      layout: toLayout(template!),
    })
  }
  if (connection.type === 'shared') {
    const shared = await buildSharedText(ctx, connection.numberId, { phone, text: content.text })
    return port.sendText(store, { ...head, ...shared })
  }
  if (!media) return port.sendText(store, { ...head, text: content.text })
  return port.sendMedia(store, { ...head, media, text: content.text || null })
}

function toLayout({ header, buttons }: Template): TemplateSend['layout'] {
  const mediaTypes = ['image', 'video', 'document'] as const
  return {
    headerMediaType: mediaTypes.find((type) => type === header?.type) ?? null,
    dynamicButtons: buttons.flatMap(({ type, url }, index) =>
      type === 'coupon-code' || (type === 'url' && url?.includes('{{')) ? [{ index, type }] : [],
    ),
  }
}

function toSendOutcome(ctx: Context, error: unknown): SendOutcome {
  if (isDisconnection(error)) return { outcome: 'disconnected' }
  if (error instanceof Refused) {
    const code = toProviderErrorCode(error.code)
    return { outcome: 'refused', code, message: error.message }
  }
  if (error instanceof Throttled) {
    const throttled = { outcome: 'retry', afterMs: error.retryAfterMs, reason: 'throttled' } as const
    return error instanceof RecipientThrottled ? { ...throttled, isOfRecipient: true } : throttled
  }
  if (error instanceof NumberLimit) return { outcome: 'retry', afterMs: dayMs, reason: 'number-limit' }
  if (error instanceof Unavailable && error.accepted === 'no') {
    const down = isConnectionFailure(error) ? ({ isDown: true } as const) : {}
    return { outcome: 'retry', afterMs: retryAfterMs, reason: 'provider-unavailable', ...down }
  }
  if (!(error instanceof Unavailable)) ctx.log.error({ err: error }, 'unexpected send error')
  return { outcome: 'unknown' }
}

/**
 * Reserves `units` rate slots on the number at `share` (0 to 1) of its rate, atomically across all workers and stores.
 * Batches with the same share queue behind each other, independent of other shares. Returns when the batch may be sent;
 * a date in the past means at once. Callers in a transaction pass the number's whole rate as `perSecond`, because they
 * must not ask the provider.
 */
export async function reserveRateSlots(
  ctx: Context,
  connection: Connection,
  units: number,
  share: number,
  perSecond?: number,
): Promise<Date> {
  const rate = perSecond ?? (await readRatePerSecond(ctx, connection))
  return takeRateSlots(ctx, connection.numberId, String(share), units, rate * share)
}

/** Messages per second that the connection's number accepts. */
export async function readRatePerSecond(ctx: Context, connection: Connection): Promise<number> {
  return memoize(ctx, `rate ${connection.type}`, async () => {
    const route = await findRouteByType(ctx, connection.type)
    // Disconnected meanwhile: nothing is sent, so any rate will do.
    if (!route) return 1
    return (await route.port.sendLimits(route.store, connection.type)).perSecond
  })
}

const maxSlotWaitMs = 2_500

/**
 * Waits for a rate slot up to 2.5 seconds ahead. Returns false if the slot is later, or if the job is being stopped: the
 * caller then queues the message for the slot's time.
 */
export async function waitForSlot({ clock, services }: Context, turn: Date): Promise<boolean> {
  const ahead = turn.getTime() - clock.ms()
  if (ahead > maxSlotWaitMs) return false
  return ahead <= 0 || pause(ahead, services.abortSignal)
}

/** Called after a 429 response of the provider: no worker sends on this number before `until`. */
export async function pauseNumber(ctx: Context, connection: Connection, until: Date): Promise<void> {
  await throttleNumber(ctx, connection.numberId, until)
}

export interface SentMessage {
  messageId: string
  sourceId: string
  sourceName: string | null
  phone: string
  providerMessageId: string | null
  sentAt: Date
  /** False for an indeterminate outcome: the ledger records the message as failed, and no touch is created. */
  isKnown: boolean
  /** The type of the automation, for its conversions. */
  automationType?: string
  /** A coupon issued for this message alone: an order that uses it is attributed to the message. */
  couponCode?: string
  /** Attributes orders by product and click token. `messageId`: the touch's id, if it differs from the message's. */
  touch?: { productId: string; clickToken: string; messageId?: string }
  /** The rendered text for the inbox; if absent, the inbox looks it up. */
  text?: string | null
  officialapiTemplateId?: number | null
  /** The member who sent it by hand. */
  sentBy?: string | null
  /** Always uses the official number. */
  via?: 'official'
}

export type SentSource = Exclude<metering.MessageSource, 'newsletter'>

/** Records sent messages in bulk, in the caller's transaction: in the ledger, as used quota units, touches and inbox. */
export async function recordSentMessages(
  ctx: Context,
  source: SentSource,
  reservationId: string,
  messages: SentMessage[],
): Promise<void> {
  if (messages.length === 0) return
  await ctx.transaction(async (tx) => {
    await metering.commit(
      tx,
      reservationId,
      messages.map((message) => ({
        messageId: message.messageId,
        channel: 'messaging',
        source,
        sourceId: message.sourceId,
        phone: message.phone,
        email: null,
        providerMessageId: message.providerMessageId,
        status: message.isKnown ? 'sent' : 'failed',
        sentAt: message.sentAt,
      })),
    )
    for (const handler of ctx.extensions.departures) {
      await handler(
        tx,
        messages.map((message) => ({ ...message, source })),
      )
    }
    if (!isAttributed(source)) return
    const touches = messages
      .filter((message) => message.isKnown)
      .map((message) => ({
        sourceType: source,
        sourceId: message.sourceId,
        sourceName: message.sourceName,
        channel: 'messaging' as const,
        messageId: message.messageId,
        phone: message.phone,
        email: null,
        touchedAt: message.sentAt,
        ...message.touch,
        ...(message.automationType ? { automationType: message.automationType } : {}),
        ...(message.couponCode ? { couponCode: message.couponCode } : {}),
      }))
    if (touches.length > 0) await attribution.recordTouches(tx, touches)
  })
}

export interface Departure extends SentMessage {
  source: SentSource
}

/** Whether messages of this source create touches. Tests, inbox messages, single sends and notices do not. */
export const isAttributed = (
  source: SentSource,
): source is 'automation' | 'messaging-campaign' | 'stock-notification' =>
  source === 'automation' || source === 'messaging-campaign' || source === 'stock-notification'

export interface DeliveryStatus {
  /** Parsed from the idempotency key, like `attempt`. */
  messageId: string
  attempt: number
  status: 'sent' | 'delivered' | 'read' | 'failed'
  at: Date
  providerMessageId: string
  failureCode: StatusFailure | null
  failureMessage: string | null
}

/** A section that sends messages, registered under the prefix of its keys. */
export interface Sender {
  /** The source that the ledger records for this sender's messages. */
  messageSource: SentSource
  /** Applies status events in bulk, in the transaction that processes them. */
  applyStatuses(ctx: Context, statuses: DeliveryStatus[]): Promise<void>
  /** Finds messages that the ledger does not know, because they were sent elsewhere. */
  external?: {
    /** Maps the provider's message ids to our message ids. */
    findByProviderIds(ctx: Context, providerIds: readonly string[]): Promise<ReadonlyMap<string, string>>
    /** Returns the ids of messages that exist. */
    filterExisting(ctx: Context, messageIds: readonly string[]): Promise<readonly string[]>
  }
}

export interface InboundMessage {
  /** E.164, or the provider's own id for a person without a visible phone; replies go to it unchanged. */
  phone: string
  text: string | null
  at: Date
  providerMessageId: string
  via: ConnectionType
  /** The person's profile name, if the provider reports it. */
  name: string | null
  /** The provider's message type, with its parts unchanged. */
  type: string
  content: unknown
}
