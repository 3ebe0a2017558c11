/** The one door that every message leaves through, whatever the section. */

import { attribution, metering } from '#operations/store/door'
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
import { isInTrouble } from '#runtime/ports/waiting'
import { officialRevalidate } from '../handles.ts'
import { takeRecipients } from '../numbers/limit.ts'
import { holdNumber, takePlaces } from '../numbers/pace.ts'
import {
  type Connection,
  type Route,
  routeFor,
  routeOfType,
  selectedPort,
  selectedRoute,
} from '../numbers/route.ts'
import { withinTime } from '../numbers/within-time.ts'
import type { StatusFailure } from '../provider/hook-body.ts'
import type { Accepted, ConnectionType, Media, TemplateSend } from '../provider/port.ts'
import { type Template, get as templateOf } from '../templates/read.ts'
import { type RefusalCode, refusalCode } from './codes.ts'
import { recently } from './recently.ts'
import { sharedTextFor } from './shared-text.ts'

export { isAhead } from '../numbers/pace.ts'

export type { Connection }

const answerWithinMs = 8_000
const tryAgainMs = 15_000

/** The selected connection when it can send now, else null. */
export async function selected(ctx: Context): Promise<Connection | null> {
  return (await selectedRoute(ctx))?.connection ?? null
}

/** The connection that a message leaves through, when it can send now, else null. */
export async function connectionFor(ctx: Context, via?: 'official'): Promise<Connection | null> {
  return (await routeFor(ctx, via))?.connection ?? null
}

/** Whether the provider takes the same idempotency key twice for one message. */
export async function isIdempotent(ctx: Context, via?: 'official'): Promise<boolean> {
  const port = via ? (await routeOfType(ctx, via))?.port : await selectedPort(ctx)
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
  /** E.164, or the provider's own id of who shows none. */
  phone: string
  content: Content
  /** The official number whatever is selected (template tests, the inbox); without it the selected connection. */
  via?: 'official'
  /** `takeRecipients` has counted it against the number's limit already. */
  isCounted?: boolean
  /** The provider's id of the message that it answers. */
  replyTo?: string
}

export type Outcome =
  | { outcome: 'accepted'; providerMessageId: string }
  /** For good, this recipient only; codes of rule 5. */
  | { outcome: 'refused'; code: RefusalCode; message: string }
  /** Certainly not accepted: may be tried again. `numberLimit`: not before the number's day is over. */
  /** `isDown`: it is the connection, not this message. */
  | { outcome: 'retry'; afterMs: number; reason: 'provider-unavailable' | 'number-limit'; isDown?: true }
  /** The same; `isOfRecipient`: others may be written to meanwhile. */
  | { outcome: 'retry'; afterMs: number; reason: 'throttled'; isOfRecipient?: true }
  /** Not selected or not connected any more. */
  | { outcome: 'disconnected' }
  /** Nobody knows whether it was accepted. */
  | { outcome: 'unknown' }

/**
 * Hands one message to the provider, outside any transaction, at most 8 s. `key`: `<kind>_<message
 * id>_<attempt>`.
 */
export async function deliver(ctx: Context, message: OutgoingMessage, key: string): Promise<Outcome> {
  const { via } = message
  const route = await recently(ctx, `route ${via ?? ''}`, () => routeFor(ctx, via))
  if (!route) return { outcome: 'disconnected' }
  const { content } = message
  const { type } = route.connection
  const template =
    content.kind === 'template'
      ? await recently(ctx, `template ${content.templateId}`, () => templateOf(ctx, content.templateId))
      : null
  const unfit = unfitFor(type, content, template)
  if (unfit) return { outcome: 'refused', ...unfit }
  if (!template || message.isCounted) return hand(ctx, route, message, template, key)
  const recipients = await takeRecipients(ctx, route.connection, [message.phone])
  if (!recipients.has(message.phone)) return { outcome: 'retry', afterMs: dayMs, reason: 'number-limit' }
  const outcome = await hand(ctx, route, message, template, key)
  if (outcome.outcome !== 'accepted' && outcome.outcome !== 'unknown') {
    await recipients.giveBack([message.phone])
  }
  return outcome
}

async function hand(
  ctx: Context,
  route: Route,
  message: OutgoingMessage,
  template: Template | null,
  key: string,
): Promise<Outcome> {
  try {
    const { providerMessageId } = await withinTime(send(ctx, route, message, template, key), answerWithinMs)
    return { outcome: 'accepted', providerMessageId }
  } catch (error) {
    // Bad credentials: once revalidated, the number says so, and the merchant is told.
    if (isDisconnection(error) && route.connection.type === 'official') {
      await ctx.queue(officialRevalidate, {})
    }
    return outcomeOf(ctx, error)
  }
}

const isDisconnection = (error: unknown): boolean =>
  error instanceof AccessLost || (error instanceof Refused && error.code === 'disconnected')

const sharedTextAtMost = 900

/** What the connection cannot carry, known without asking the provider. */
export function unfitFor(
  type: ConnectionType,
  content: Content,
  template: Template | null,
): { code: RefusalCode; message: string } | null {
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
  const message = `The shared number sends at most ${sharedTextAtMost} characters`
  return content.text.length > sharedTextAtMost ? { code: 'too-long', message } : null
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
      layout: layoutOf(template!),
    })
  }
  if (connection.type === 'shared') {
    const shared = await sharedTextFor(ctx, connection.numberId, { phone, text: content.text })
    return port.sendText(store, { ...head, ...shared })
  }
  if (!media) return port.sendText(store, { ...head, text: content.text })
  return port.sendMedia(store, { ...head, media, text: content.text || null })
}

function layoutOf({ header, buttons }: Template): TemplateSend['layout'] {
  const mediaTypes = ['image', 'video', 'document'] as const
  return {
    headerMediaType: mediaTypes.find((type) => type === header?.type) ?? null,
    dynamicButtons: buttons.flatMap(({ type, url }, index) =>
      type === 'coupon-code' || (type === 'url' && url?.includes('{{')) ? [{ index, type }] : [],
    ),
  }
}

function outcomeOf(ctx: Context, error: unknown): Outcome {
  if (isDisconnection(error)) return { outcome: 'disconnected' }
  if (error instanceof Refused) {
    const code = refusalCode(error.code)
    return { outcome: 'refused', code, message: error.message }
  }
  if (error instanceof Throttled) {
    const told = { outcome: 'retry', afterMs: error.retryAfterMs, reason: 'throttled' } as const
    return error instanceof RecipientThrottled ? { ...told, isOfRecipient: true } : told
  }
  if (error instanceof NumberLimit) return { outcome: 'retry', afterMs: dayMs, reason: 'number-limit' }
  if (error instanceof Unavailable && error.accepted === 'no') {
    const down = isInTrouble(error) ? ({ isDown: true } as const) : {}
    return { outcome: 'retry', afterMs: tryAgainMs, reason: 'provider-unavailable', ...down }
  }
  if (!(error instanceof Unavailable)) ctx.log.error({ err: error }, 'a send ended in an unforeseen way')
  return { outcome: 'unknown' }
}

/**
 * Takes `units` places on the number at `share` (0 to 1) of its rate, atomically over all workers and
 * stores. Those with one share queue behind each other, apart from those with another. Answers when the
 * batch may leave: a date not after now means at once. `perSecond`: the whole rate, for who is in a transaction, where
 * no provider may be asked.
 */
export async function takeTurn(
  ctx: Context,
  connection: Connection,
  units: number,
  share: number,
  perSecond?: number,
): Promise<Date> {
  const rate = perSecond ?? (await ratePerSecond(ctx, connection))
  return takePlaces(ctx, connection.numberId, String(share), units, rate * share)
}

/** Messages a second that the number behind the connection takes. */
export async function ratePerSecond(ctx: Context, connection: Connection): Promise<number> {
  return recently(ctx, `rate ${connection.type}`, async () => {
    const route = await routeOfType(ctx, connection.type)
    // Disconnected meanwhile: nothing leaves, at whatever pace.
    if (!route) return 1
    return (await route.port.sendLimits(route.store, connection.type)).perSecond
  })
}

const nearMs = 2_500

/** Waits for a turn that is near. False where it is not, or the job is to end: the message is then queued for that instant. */
export async function reaches({ clock, services }: Context, turn: Date): Promise<boolean> {
  const ahead = turn.getTime() - clock.ms()
  if (ahead > nearMs) return false
  return ahead <= 0 || pause(ahead, services.ending)
}

/** A provider's 429: nobody sends on this number before `until`. */
export async function throttled(ctx: Context, connection: Connection, until: Date): Promise<void> {
  await holdNumber(ctx, connection.numberId, until)
}

export interface SentMessage {
  messageId: string
  sourceId: string
  sourceName: string | null
  phone: string
  providerMessageId: string | null
  sentAt: Date
  /** False for an unknown outcome: it counts, as failed and without a touch. */
  isKnown: boolean
  /** Of an automation, for its conversions. */
  automationType?: string
  /** Issued for this message alone: an order with it is its. */
  couponCode?: string
  /** What it was about, and what the order brings back by which it is known. `messageId`: of a second attempt's touch. */
  touch?: { productId: string; clickToken: string; messageId?: string }
  /** How it reads, for the inbox; where it is left out the inbox looks it up. */
  text?: string | null
  officialapiTemplateId?: number | null
  /** The member who asked for it by hand. */
  sentBy?: string | null
  /** The official number whatever is selected. */
  via?: 'official'
}

export type SentSource = Exclude<metering.MessageSource, 'newsletter'>

/** In the caller's transaction, in bulk: `metering.commit`, the touches and the inbox at once. */
export async function accepted(
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
    for (const told of ctx.wired.departures) {
      await told(
        tx,
        messages.map((message) => ({ ...message, source })),
      )
    }
    if (!bringsOrders(source)) return
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

/** Tests, inbox and single sends make no touch, nor do requests and news of an exchange. */
export const bringsOrders = (
  source: SentSource,
): source is 'automation' | 'messaging-campaign' | 'stock-notification' =>
  source === 'automation' || source === 'messaging-campaign' || source === 'stock-notification'

export interface DeliveryStatus {
  /** From the idempotency key: id and attempt of the message. */
  messageId: string
  attempt: number
  status: 'sent' | 'delivered' | 'read' | 'failed'
  at: Date
  providerMessageId: string
  failureCode: StatusFailure | null
  failureMessage: string | null
}

/** Who sends messages, by the first part of the keys that it sends with. */
export interface Sender {
  /** What the ledger calls its messages. */
  source: SentSource
  /** In bulk, in the transaction that applies the events. */
  applyStatuses(ctx: Context, statuses: DeliveryStatus[]): Promise<void>
  /** Its messages that the ledger does not know, as they did not leave through here. */
  elsewhere?: {
    /** Ids of messages by those that the provider gave them. */
    byProviderIds(ctx: Context, providerIds: readonly string[]): Promise<ReadonlyMap<string, string>>
    /** Which of these are there. */
    among(ctx: Context, messageIds: readonly string[]): Promise<readonly string[]>
  }
}

export interface InboundMessage {
  /** E.164, or the provider's own id of who shows no phone: an answer goes to it as it is. */
  phone: string
  text: string | null
  at: Date
  providerMessageId: string
  via: ConnectionType
  /** What they call themselves, where the provider says it. */
  name: string | null
  /** The provider's word for its type, and its parts as they came. */
  type: string
  content: unknown
}
