/**
 * The port of messaging providers. Calls throw `Refused` and `Unavailable`, sends also `Throttled` and `NumberLimit`,
 * from runtime/ports/errors.ts.
 */
import type { Precondition, ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import type { NumberPort } from './number-port.ts'
import type { TemplatePort } from './template-port.ts'

export type ConnectionType = 'qr' | 'official' | 'shared'

export interface Send {
  /** E.164, or the provider's own id of a person whose phone is hidden. */
  phone: string
  /** The connection to send from; the assistant's number belongs to the server. */
  via: ConnectionType | 'assistant'
  replyTo?: string
  /** A key that the provider deduplicates by, if `capabilities.idempotentSend`. */
  idempotencyKey: string
}

export interface Media {
  type: 'image' | 'video' | 'audio' | 'document'
  url: string
  fileName: string | null
}

export interface TemplateSend {
  template: { name: string; language: string }
  parameters: { header: string[]; body: string[]; buttons: string[] }
  headerMediaUrl: string | null
  /** The template's structure, for providers that need it with every message. */
  layout: {
    headerMediaType: 'image' | 'video' | 'document' | null
    /** Buttons with a parameter, in the order of `parameters.buttons`; `index` counts all buttons from 0. */
    dynamicButtons: { index: number; type: 'url' | 'coupon-code' }[]
  }
}

export interface Accepted {
  providerMessageId: string
}

export interface MessagingPort extends TemplatePort, NumberPort {
  capabilities: { idempotentSend: boolean; qr: boolean; shared: boolean }
  /** The server's number for the assistant; null if there is none. `phone`: E.164. */
  assistant: { numberId: string; phone: string } | null
  /**
   * `isWindowOpen`: the recipient wrote to the shared number in the last 24 hours, so plain text is allowed; otherwise
   * the text is wrapped in the service's own template.
   */
  sendText(store: ProviderStore, message: Send & { text: string; isWindowOpen?: boolean }): Promise<Accepted>
  sendMedia(store: ProviderStore, message: Send & { media: Media; text: string | null }): Promise<Accepted>
  sendTemplate(store: ProviderStore, message: Send & TemplateSend): Promise<Accepted>
  /** The rate of a connection's number. */
  sendLimits(store: ProviderStore, via: ConnectionType): Promise<{ perSecond: number; perDay: number | null }>
  /** Lists the unmet preconditions of the store's connection. Asks the provider, changes nothing. */
  check(store: ProviderStore): Promise<Precondition[]>
  /** Compares in constant time. */
  verifySignature(headers: Headers, rawBody: Uint8Array): boolean
  parseEvents(rawBody: Uint8Array): ProviderEvent[]
}
