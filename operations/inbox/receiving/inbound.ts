/** What a contact wrote, in the inbox's own words. Pure. */
import type { sending } from '#operations/messaging/door'

export interface InboundPart {
  type: string
  text: string | null
  media: MediaRow | null
  content: Record<string, unknown> | null
  /** The provider's id of the message it answers, or reacts to. */
  refersTo: string | null
}

/** As it is kept; `key` once it is in our storage. */
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
const partsOf = (value: unknown): Parts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Parts) : {}
const longestText = 4096
/** Cut between characters, never within one. */
const textOf = (value: unknown, atMost = longestText): string | null =>
  typeof value === 'string' && value !== ''
    ? value.length > atMost
      ? [...value.slice(0, 2 * atMost)].slice(0, atMost).join('')
      : value
    : null
const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

/** Reads the provider's parts; what it does not know is `unsupported`, never lost. */
export function readInbound(message: sending.InboundMessage): InboundPart {
  const content = partsOf(message.content)
  const refersTo = textOf(partsOf(content.context).id, 255)
  const plain = { text: textOf(message.text), media: null, content: null, refersTo }
  if (mediaTypes.has(message.type)) {
    const part = partsOf(content[message.type])
    const media: MediaRow = {
      mediaId: textOf(part.id, 255),
      key: null,
      url: null,
      contentType: textOf(part.mime_type, 100),
      fileName: textOf(part.filename, 200),
      size: null,
      status: textOf(part.id, 255) === null ? 'failed' : 'pending',
    }
    return { ...plain, type: message.type, media }
  }
  switch (message.type) {
    case 'text':
      return { ...plain, type: 'text' }
    case 'location': {
      const { latitude, longitude, name, address } = partsOf(content.location)
      return {
        ...plain,
        type: 'location',
        content: {
          latitude: numberOf(latitude) ?? 0,
          longitude: numberOf(longitude) ?? 0,
          name: textOf(name, 200),
          address: textOf(address, 500),
        },
      }
    }
    case 'contacts':
      return { ...plain, type: 'contacts', content: { contacts: cardsOf(content.contacts) } }
    case 'button':
    case 'interactive':
      return { ...plain, type: 'interactive', content: pressedOf(content) }
    case 'reaction': {
      const { emoji, message_id: reactedTo } = partsOf(content.reaction)
      return {
        ...plain,
        type: 'reaction',
        content: { emoji: textOf(emoji, 20), messageId: null },
        refersTo: textOf(reactedTo, 255),
      }
    }
    default:
      return { ...plain, type: 'unsupported' }
  }
}

function cardsOf(value: unknown): { name: string | null; phones: string[] }[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, 50).map((each) => {
    const { name, phones } = partsOf(each)
    const numbers = Array.isArray(phones)
      ? phones.flatMap((entry) => textOf(partsOf(entry).phone, 40) ?? [])
      : []
    return { name: textOf(partsOf(name).formatted_name, 200), phones: numbers.slice(0, 20) }
  })
}

function pressedOf(content: Parts): { buttonId: string | null; title: string | null } {
  const { payload, text } = partsOf(content.button)
  const interactive = partsOf(content.interactive)
  const reply = { ...partsOf(interactive.list_reply), ...partsOf(interactive.button_reply) }
  return { buttonId: textOf(reply.id ?? payload, 256), title: textOf(reply.title ?? text, 200) }
}
