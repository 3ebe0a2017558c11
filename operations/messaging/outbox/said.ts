/** What a message says, as it is kept with its row from the claim to its end. */
import type { Mail } from '#runtime/ports/mail/port'
import type { Content } from '../sending/deliver.ts'
import type { Departing } from './lane.ts'

export type Said =
  | ({ channel: 'email' } & Pick<Mail, 'subject' | 'html' | 'text' | 'headers'> & { replyTo?: string | null })
  | { channel: 'messaging'; content: Content; text: string }

interface Recipient {
  phone: string | null
  email: string | null
}

/** To whom it goes, and how. */
export function letterOf(said: Said, { phone, email }: Recipient) {
  if (said.channel === 'messaging') return { phone: phone!, content: said.content }
  const { channel: _, replyTo, ...mail } = said
  return { mail: { to: email!, ...mail, ...(replyTo ? { replyTo } : {}) } }
}

/** How the inbox shows it. */
export const shownAs = (said: Said | null): Pick<Departing, 'text' | 'officialapiTemplateId'> =>
  said?.channel === 'messaging'
    ? {
        text: said.text,
        officialapiTemplateId: said.content.kind === 'template' ? said.content.templateId : null,
      }
    : {}
