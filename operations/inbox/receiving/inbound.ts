/** Parses messages from the provider into the inbox's model. No database, no clock. */

import type { sending } from '#operations/messaging/index'
import { truncate } from '#runtime/values/truncate'

export interface InboundPart {
  type: string
  text: string | null
  media: MediaRow | null
  content: Record<string, unknown> | null
  /** The provider's id of the message that this one answers or reacts to. */
  refersTo: string | null
}

/** The stored description of a message's media. `key` is set once the file is in our storage. */
export interface MediaRow {
  mediaId: string | null
  key: string | null
  url: string | null
  contentType: string | null
  fileName: string | null
  size: number | null
  status: 'pending' | 'ready' | 'failed'
}

const mediaTypes = new Set(['image', 'video', 'audio', 'document', 'sticker'])

type Parts = Record<string, unknown>
const toParts = (value: unknown): Parts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Parts) : {}
const longestText = 4096
/** Returns a text that is not empty, truncated to whole graphemes, or null. */
const toText = (value: unknown, atMost = longestText): string | null =>
  typeof value === 'string' && value !== '' ? truncate(value, atMost) : null
const toNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

/** Parses the provider's content. A message of an unknown type is not dropped, but becomes `unsupported`. */
export function readInbound(message: sending.InboundMessage): InboundPart {
  const content = toParts(message.content)
  const refersTo = toText(toParts(content.context).id, 255)
  const plain = { text: toText(message.text), media: null, content: null, refersTo }
  if (mediaTypes.has(message.type)) {
    const part = toParts(content[message.type])
    const media: MediaRow = {
      mediaId: toText(part.id, 255),
      key: null,
      url: null,
      contentType: toText(part.mime_type, 100),
      fileName: toText(part.filename, 200),
      size: null,
      status: toText(part.id, 255) === null ? 'failed' : 'pending',
    }
    return { ...plain, type: message.type, media }
  }
  switch (message.type) {
    case 'text':
      return { ...plain, type: 'text' }
    case 'location': {
      const { latitude, longitude, name, address } = toParts(content.location)
      return {
        ...plain,
        type: 'location',
        content: {
          latitude: toNumber(latitude) ?? 0,
          longitude: toNumber(longitude) ?? 0,
          name: toText(name, 200),
          address: toText(address, 500),
        },
      }
    }
    case 'contacts':
      return { ...plain, type: 'contacts', content: { contacts: parseContactCards(content.contacts) } }
    case 'button':
    case 'interactive':
      return { ...plain, type: 'interactive', content: parseButtonReply(content) }
    case 'reaction': {
      const { emoji, message_id: reactedTo } = toParts(content.reaction)
      return {
        ...plain,
        type: 'reaction',
        content: { emoji: toText(emoji, 20), messageId: null },
        refersTo: toText(reactedTo, 255),
      }
    }
    default:
      return { ...plain, type: 'unsupported' }
  }
}

function parseContactCards(value: unknown): { name: string | null; phones: string[] }[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, 50).map((each) => {
    const { name, phones } = toParts(each)
    const numbers = Array.isArray(phones)
      ? phones.flatMap((entry) => toText(toParts(entry).phone, 40) ?? [])
      : []
    return { name: toText(toParts(name).formatted_name, 200), phones: numbers.slice(0, 20) }
  })
}

function parseButtonReply(content: Parts): { buttonId: string | null; title: string | null } {
  const { payload, text } = toParts(content.button)
  const interactive = toParts(content.interactive)
  const reply = { ...toParts(interactive.list_reply), ...toParts(interactive.button_reply) }
  return { buttonId: toText(reply.id ?? payload, 256), title: toText(reply.title ?? text, 200) }
}
