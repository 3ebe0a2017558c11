/** Builds the status changes of the sandbox's messages. */
import { type MessageStatus, type NumberChanges, toFailureNumber, toTimestamp } from './hook-body.ts'
import type { Send } from './port.ts'
import { sandboxFile } from './sandbox-media.ts'

export interface SandboxInbound {
  numberId: string
  phone: string
  name?: string | null
  text?: string | null
  /** The provider's type; default `text`. */
  type?: string
  /** The MIME type of an image, a video…; by default a common one. */
  mediaType?: string
  /** The message of a reaction, or the one replied to. */
  refersTo?: string
  /** True if the merchant sent it to that phone from the provider's app. */
  isEcho?: boolean
  occurredAt?: Date
  /** Messages with the same id are deduplicated. */
  providerMessageId?: string
}

const sharedNumber = 'sandbox-shared'
export const assistant = { numberId: 'sandbox-assistant', phone: '+5511900000010' }
/** The id of the number that a store's messages leave through. */
export const sandboxNumberId = (storeId: string, via: Send['via']): string => {
  if (via === 'assistant') return assistant.numberId
  return via === 'shared' ? sharedNumber : `sandbox-${storeId}`
}

/** A step of a message, and its delay after acceptance. */
export interface Step {
  afterMs: number
  happens: MessageStatus | 'stop'
}
const failed: readonly Step[] = [{ afterMs: 500, happens: 'failed' }]
const isRead: readonly Step[] = [
  { afterMs: 500, happens: 'delivered' },
  { afterMs: 1_000, happens: 'read' },
]
const stopReply: readonly Step[] = [...isRead, { afterMs: 2_500, happens: 'stop' }]
export const getSteps = (phone: string): readonly Step[] =>
  phone.endsWith('0002') ? failed : phone.endsWith('0003') ? stopReply : isRead

export interface DueRow {
  id: string
  store_id: string
  idempotency_key: string
  provider_message_id: string
  phone: string
  via: Send['via']
  stage: number
  sent_at: Date
}

/** Groups the changes of messages by number, because real providers also put several changes into one body. */
export function toNumberChanges(moved: readonly { row: DueRow; over: readonly Step[] }[]): NumberChanges[] {
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

export const emptyChanges = (numberId: string, account: string): NumberChanges => ({
  numberId,
  account,
  statuses: [],
  messages: [],
  contacts: [],
})

export function statusChange(
  row: Pick<DueRow, 'provider_message_id' | 'phone' | 'idempotency_key'>,
  status: MessageStatus,
  at: Date,
  code = 'undelivered',
): Record<string, unknown> {
  return {
    id: row.provider_message_id,
    status,
    timestamp: toTimestamp(at),
    recipient_id: row.phone.slice(1),
    biz_opaque_callback_data: row.idempotency_key,
    ...(status === 'failed' ? { errors: [{ code: toFailureNumber(code), title: code }] } : {}),
  }
}

export function addInbound(
  changes: NumberChanges,
  message: Omit<SandboxInbound, 'numberId'> & { providerMessageId: string; at: Date },
): void {
  const { phone, name, type = 'text', text, refersTo, isEcho = false } = message
  const parts =
    type === 'text'
      ? { text: { body: text ?? '' } }
      : type === 'button'
        ? { button: { text } }
        : { [type]: buildParts(type, message) }
  const written = {
    ...(refersTo && type !== 'reaction' ? { context: { id: refersTo } } : {}),
    id: message.providerMessageId,
    timestamp: toTimestamp(message.at),
    type,
    ...parts,
  }
  if (isEcho) {
    changes.echoes = [...(changes.echoes ?? []), { ...written, from: changes.numberId, to: phone.slice(1) }]
    return
  }
  changes.messages.push({ ...written, from: phone.slice(1) })
  changes.contacts.push({ wa_id: phone.slice(1), profile: name ? { name } : {} })
}

/** Builds the type-specific parts as the network sends them. */
function buildParts(
  type: string,
  { text, mediaType, providerMessageId, refersTo }: Omit<SandboxInbound, 'numberId'>,
): Record<string, unknown> {
  if (type === 'reaction') return { emoji: text ?? '👍', message_id: refersTo ?? '' }
  if (type === 'location') return { latitude: -23.5614, longitude: -46.6559, name: text ?? null }
  const file = sandboxFile(type)
  if (!file) return { caption: text }
  return {
    id: `sandbox-${type}-${providerMessageId ?? ''}`,
    mime_type: mediaType ?? file.contentType,
    ...(type === 'document' ? { filename: 'document.pdf' } : {}),
    ...(text ? { caption: text } : {}),
  }
}
