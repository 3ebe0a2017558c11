/**
 * What a messaging provider does for us. Calls throw `Refused`, `Unavailable`, and sends also `Throttled` and
 * `NumberLimit`, of runtime/ports/errors.ts.
 */
import type { Finding, ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import type { NumberPort } from './number-port.ts'
import type { TemplatePort } from './template-port.ts'

export type ConnectionType = 'qr' | 'official' | 'shared'

export interface Send {
  /** E.164, or the provider's own id of who shows no phone, as it came with what they wrote. */
  phone: string
  /** Which connection it leaves through; the assistant's number is the server's own. */
  via: ConnectionType | 'assistant'
  replyTo?: string
  /** The same key twice is one message, where `capabilities.idempotentSend`. */
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
  /** What the template's parts are, for providers that want to hear it with every message. */
  layout: {
    headerMediaType: 'image' | 'video' | 'document' | null
    /** Those that take a parameter, in the order of `parameters.buttons`; `index`: among all buttons, from 0. */
    dynamicButtons: { index: number; type: 'url' | 'coupon-code' }[]
  }
}

export interface Accepted {
  providerMessageId: string
}

export interface MessagingPort extends TemplatePort, NumberPort {
  capabilities: { idempotentSend: boolean; qr: boolean; shared: boolean }
  /** The number that merchants talk to the assistant on; null where this server has none. `phone`: E.164. */
  assistant: { numberId: string; phone: string } | null
  /**
   * `isWindowOpen`: they wrote to the shared number in the last 24 hours, so that it may answer them plainly; otherwise
   * the text goes inside the service's own template.
   */
  sendText(store: ProviderStore, message: Send & { text: string; isWindowOpen?: boolean }): Promise<Accepted>
  sendMedia(store: ProviderStore, message: Send & { media: Media; text: string | null }): Promise<Accepted>
  sendTemplate(store: ProviderStore, message: Send & TemplateSend): Promise<Accepted>
  /** The pace of the number behind a connection. */
  sendLimits(store: ProviderStore, via: ConnectionType): Promise<{ perSecond: number; perDay: number | null }>
  /** Says each thing that the store's connection lacks, the provider asked; changes nothing. */
  check(store: ProviderStore): Promise<Finding[]>
  /** Compared in constant time. */
  verifySignature(headers: Headers, rawBody: Uint8Array): boolean
  parseEvents(rawBody: Uint8Array): ProviderEvent[]
}
