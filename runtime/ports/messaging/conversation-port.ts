/** What a provider does for a conversation beside sending. */
import type { Readable } from 'node:stream'
import type { ProviderEvent, ProviderStore } from '../provider.ts'

export interface FetchedMedia {
  stream: Readable
  contentType: string
  /** In bytes. */
  size: number
  fileName: string | null
}

export interface History {
  /** False where the provider keeps none. */
  supported: boolean
  /** As its callbacks would have told them. */
  events: ProviderEvent[]
  /** Cursor of the next page, null on the last. */
  next: string | null
}

export interface ConversationPort {
  /** The contact sees that everything up to this message was read. */
  markRead(store: ProviderStore, message: { providerMessageId: string }): Promise<void>
  fetchMedia(store: ProviderStore, media: { mediaId: string }): Promise<FetchedMedia>
  history(store: ProviderStore, query: { since: Date; cursor?: string }): Promise<History>
}
