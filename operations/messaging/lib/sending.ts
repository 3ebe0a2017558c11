/** The one door that every message leaves through, whatever the section. */
import type { Context } from '#runtime/context'
import type { ConnectionType, Media } from '#runtime/ports/messaging/port'

export interface Connection {
  type: ConnectionType
  /** Of the number behind it: its pace is one over all stores that use it. */
  numberId: string
  phone: string | null
}

/** The selected connection when it can send now, else null. */
export async function selected(_ctx: Context): Promise<Connection | null> {
  throw new Error('being written')
}

/** Whether the provider takes the same idempotency key twice for one message. */
export async function isIdempotent(_ctx: Context): Promise<boolean> {
  throw new Error('being written')
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
  /** E.164. */
  phone: string
  content: Content
}

export type Outcome =
  | { outcome: 'accepted'; providerMessageId: string }
  /** For good, this recipient only; codes of the messaging page's Rules 5. */
  | { outcome: 'refused'; code: string; message: string }
  /** Certainly not accepted: may be tried again. `numberLimit`: not before the number's day is over. */
  | { outcome: 'retry'; afterMs: number; reason: 'throttled' | 'provider-unavailable' | 'number-limit' }
  /** Not selected or not connected any more. */
  | { outcome: 'disconnected' }
  /** Nobody knows whether it was accepted. */
  | { outcome: 'unknown' }

/** Hands one message to the provider, outside any transaction, at most 8 s. `key`: `<kind>_<message id>_<attempt>`. */
export async function deliver(_ctx: Context, _message: OutgoingMessage, _key: string): Promise<Outcome> {
  throw new Error('being written')
}

/**
 * Takes `units` places on the number at `share` (0 to 1) of its rate, atomically over all workers and stores. Answers when the batch
 * may leave: a date not after now means at once.
 */
export async function takeTurn(
  _ctx: Context,
  _connection: Connection,
  _units: number,
  _share: number,
): Promise<Date> {
  throw new Error('being written')
}

/** Messages a second that the number behind the connection takes. */
export async function ratePerSecond(_ctx: Context, _connection: Connection): Promise<number> {
  throw new Error('being written')
}

/** A provider's 429: nobody sends on this number before `until`. */
export async function throttled(_ctx: Context, _connection: Connection, _until: Date): Promise<void> {
  throw new Error('being written')
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
}

/** In the caller's transaction, in bulk: `metering.commit`, the touches and the inbox at once. */
export async function accepted(
  _ctx: Context,
  _source:
    | 'messaging-campaign'
    | 'automation'
    | 'stock-notification'
    | 'direct'
    | 'review-request'
    | 'exchange'
    | 'inbox',
  _reservationId: string,
  _messages: SentMessage[],
): Promise<void> {
  throw new Error('being written')
}

export interface DeliveryStatus {
  /** From the idempotency key: id and attempt of the message. */
  messageId: string
  attempt: number
  status: 'sent' | 'delivered' | 'read' | 'failed'
  at: Date
  providerMessageId: string
  failureCode: string | null
  failureMessage: string | null
}

type StatusListener = (ctx: Context, statuses: DeliveryStatus[]) => Promise<void>
const statusListeners = new Map<string, StatusListener>()
/** `kind`: the first part of the keys a section sends with (`cm` campaigns, `au` automations…). Called in bulk, in the transaction that applies the events. */
export const onStatus = (kind: string, listener: StatusListener): void => {
  statusListeners.set(kind, listener)
}
export const statusListener = (kind: string): StatusListener | undefined => statusListeners.get(kind)

export interface InboundMessage {
  phone: string
  text: string | null
  at: Date
  providerMessageId: string
  via: ConnectionType
}

type InboundListener = (ctx: Context, message: InboundMessage) => Promise<void>
const inboundListeners: InboundListener[] = []
/** Called in the transaction that applies an inbound message. */
export const onInbound = (listener: InboundListener): void => {
  inboundListeners.push(listener)
}
export const listenersOfInbound = (): readonly InboundListener[] => inboundListeners
