import { createHash } from 'node:crypto'
import { Refused } from '../errors.ts'
import type { Finding } from '../provider.ts'

/**
 * Sends one email to one address. Throws `Refused`, `Throttled` or `Unavailable` of `runtime/ports/errors.ts`;
 * `AccessLost` where no address would fare better.
 */
export interface MailPort {
  /** What the way out needs, and whether it is there; sends nothing. */
  check(): Promise<Finding[]>
  send(m: {
    /** One bare address, `name@example.com`. */
    to: string
    /** `name@example.com` or `Shop <name@example.com>`; without it the adapter's own sender. */
    from?: string
    replyTo?: string
    subject: string
    html: string
    text: string
    headers?: Record<string, string>
    attachments?: { fileName: string; contentType: string; content: Uint8Array }[]
    /** The same key is the same message: `messageId` is equal, and a second send is harmless. */
    idempotencyKey: string
    /** Whose mail it is, where it is a store's: the sandbox keeps it by that. */
    storeId?: string
  }): Promise<{ messageId: string }>
}

export type Mail = Parameters<MailPort['send']>[0]

/** Why a mail server refuses for good. */
export const mailRefusals = ['invalid-recipient', 'recipient-refused', 'message-refused'] as const
export type MailRefusal = (typeof mailRefusals)[number]
/** Of a `Refused` of this port. */
export const mailRefusal = ({ code }: Refused): MailRefusal =>
  mailRefusals.find((each) => each === code) ?? 'message-refused'

/** Refuses what is not exactly one bare address: a list in `to` would send one person's mail to many. */
export function checkRecipient(to: string): void {
  if (to.length > 320 || !/^[^\s@<>()[\]\\,;:"\x00-\x1f\x7f]+@[^\s@<>()[\]\\,;:"\x00-\x1f\x7f]+$/.test(to)) {
    throw new Refused('invalid-recipient', 'The address is not an email address')
  }
}

/** Of a sender such as `Shop <name@example.com>`. */
export const domainOf = (from: string): string => /@([^\s@>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'

/** The `Message-ID` of a key, so that whoever receives the message twice can tell that it is one. */
export function messageIdOf(idempotencyKey: string, domain: string): string {
  return `<${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 40)}@${domain}>`
}
