/** The content of a message, as stored with its row from its claim until the message ends. */
import type { Mail } from '#runtime/ports/mail/port'
import type { Content } from '../sending/deliver.ts'
import type { SentDetails } from './outbox-source.ts'

export type StoredContent =
  | ({ channel: 'email' } & Pick<Mail, 'subject' | 'html' | 'text' | 'headers'> & { replyTo?: string | null })
  | { channel: 'messaging'; content: Content; text: string }

interface Recipient {
  phone: string | null
  email: string | null
}

/** Builds the outgoing message for its recipient. */
export function toOutgoing(said: StoredContent, { phone, email }: Recipient) {
  if (said.channel === 'messaging') return { phone: phone!, content: said.content }
  const { channel: _, replyTo, ...mail } = said
  return { mail: { to: email!, ...mail, ...(replyTo ? { replyTo } : {}) } }
}

/** The fields that the inbox shows. */
export const toInboxFields = (
  said: StoredContent | null,
): Pick<SentDetails, 'text' | 'officialapiTemplateId'> =>
  said?.channel === 'messaging'
    ? {
        text: said.text,
        officialapiTemplateId: said.content.kind === 'template' ? said.content.templateId : null,
      }
    : {}
