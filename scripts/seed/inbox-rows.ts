/** Rows of the demo's inbox. */
import { namedId } from '#runtime/values/ids'
import type { Earlier, Writer } from './inbox-people.ts'
import type { PlannedConversation, PlannedMessage } from './inbox-plan.ts'
import type { SeedRow } from './rows.ts'
import { auroraPeople, type DemoStore } from './store.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** Files that contacts and the team sent. */
export const samples = {
  image: { fileName: 'foto.png', contentType: 'image/png', bytes: Buffer.from(png, 'base64') },
  audio: {
    fileName: 'audio.amr',
    contentType: 'audio/amr',
    bytes: Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(10, 0x7c)]),
  },
  document: { fileName: 'comprovante.txt', contentType: 'text/plain', bytes: Buffer.from('Comprovante\n') },
}
export type Sample = keyof typeof samples

export type Stored = Record<Sample, { key: string; url: string }>

export interface Given {
  id: string
  person: Writer
  plan: PlannedConversation
  i: number
  stored: Stored
  templateId: number | null
}

export type MessageRow = SeedRow<'inbox_messages'>

export function messageRow(
  store: DemoStore,
  { id, i, stored, templateId }: Given,
  message: PlannedMessage,
  n: number,
): MessageRow {
  const { at, direction, type, text, failure } = message
  const isInbound = direction === 'inbound'
  const writer = auroraPeople[i % auroraPeople.length]!
  const sample = type in samples ? samples[type as Sample] : null
  const messageId = namedId(`inbox message ${id} ${n}`, at.getTime())
  const hasLeft = !isInbound && failure === null
  const after = (ms: number) => (hasLeft ? store.timeline.notAfterNow(new Date(at.getTime() + ms)) : null)
  return {
    id: messageId,
    conversation_id: id,
    direction,
    source: isInbound ? 'customer' : 'agent',
    type,
    text,
    media: sample && {
      mediaId: null,
      ...stored[type as Sample],
      contentType: sample.contentType,
      fileName: sample.fileName,
      size: sample.bytes.length,
      status: 'ready',
    },
    content:
      type === 'location'
        ? { latitude: -23.5614, longitude: -46.6559, name: 'Avenida Paulista', address: null }
        : type === 'reaction'
          ? { emoji: '❤️', messageId: null }
          : null,
    officialapi_template_id: type === 'template' ? templateId : null,
    status: isInbound ? 'received' : failure ? 'failed' : 'read',
    error_code: failure,
    error_message:
      failure === 'not-on-network'
        ? 'The phone is not on the network'
        : failure && 'The window closed before the message could leave: send an approved template',
    provider_message_id: isInbound || hasLeft ? `wamid.demo-${messageId}` : null,
    sent_by: isInbound ? null : store.people[writer.key]!,
    sent_by_name: isInbound ? null : writer.name,
    attempts: isInbound ? 0 : 1,
    occurred_at: at,
    sent_at: after(800),
    delivered_at: after(2500),
    read_at: after(40_000),
    failed_at: failure ? at : null,
    created_at: at,
    updated_at: at,
  } as MessageRow
}

export const earlierRow = (conversationId: string, sent: Earlier): MessageRow =>
  ({
    id: sent.id,
    conversation_id: conversationId,
    direction: 'outbound',
    source: sent.source,
    type: sent.type,
    text: sent.text,
    media: sent.media,
    content: null,
    officialapi_template_id: sent.templateId,
    status: sent.status,
    error_code: null,
    error_message: null,
    provider_message_id: sent.providerId,
    sent_by: null,
    sent_by_name: null,
    attempts: 1,
    occurred_at: sent.at,
    sent_at: sent.at,
    delivered_at: sent.at,
    read_at: sent.status === 'read' ? sent.at : null,
    failed_at: null,
    created_at: sent.at,
    updated_at: sent.at,
  }) as MessageRow

export const ledgerRow = (row: MessageRow, conversationId: string, key: string): SeedRow<'message_ledger'> =>
  ({
    message_id: row.id,
    channel: 'messaging',
    source: 'inbox',
    source_id: conversationId,
    phone_key: key,
    email: null,
    provider_message_id: row.provider_message_id,
    status: 'read',
    failure_code: null,
    sent_at: row.sent_at!,
    delivered_at: row.delivered_at,
    read_at: row.read_at,
    failed_at: null,
  }) as SeedRow<'message_ledger'>

/** Six tags on 35 conversations, 20 notes by all three, 8 quick replies. */
