import { createHash } from 'node:crypto'
import { Refused } from '../errors.ts'
import type { Precondition } from '../provider.ts'

/**
 * Sends one email to one address. Throws `Refused`, `Throttled` or `Unavailable` of `runtime/ports/errors.ts`;
 * `AccessLost` if every address would fail.
 */
export interface MailPort {
  /** Checks the preconditions of sending; sends nothing. */
  check(): Promise<Precondition[]>
  send(m: {
    /** One bare address, `name@example.com`. */
    to: string
    /** `name@example.com` or `Shop <name@example.com>`; default: the adapter's own sender. */
    from?: string
    replyTo?: string
    subject: string
    html: string
    text: string
    headers?: Record<string, string>
    attachments?: { fileName: string; contentType: string; content: Uint8Array }[]
    /** The same key is the same message: `messageId` is equal, and a second send is harmless. */
    idempotencyKey: string
    /** The store that sends it, if any: the sandbox lists mail by it. */
    storeId?: string
  }): Promise<{ messageId: string }>
}

export type Mail = Parameters<MailPort['send']>[0]

/** Why a mail server refuses permanently. */
export const mailRefusalCodes = ['invalid-recipient', 'recipient-refused', 'message-refused'] as const
export type MailRefusal = (typeof mailRefusalCodes)[number]
/** The code of a `Refused` of this port. */
export const toMailRefusal = ({ code }: Refused): MailRefusal =>
  mailRefusalCodes.find((each) => each === code) ?? 'message-refused'

/** Refuses anything but exactly one bare address: a list in `to` would send one person's mail to many. */
export function checkRecipient(to: string): void {
  if (to.length > 320 || !/^[^\s@<>()[\]\\,;:"\x00-\x1f\x7f]+@[^\s@<>()[\]\\,;:"\x00-\x1f\x7f]+$/.test(to)) {
    throw new Refused('invalid-recipient', 'The address is not an email address')
  }
}

/** The domain of a sender such as `Shop <name@example.com>`. */
export const parseDomain = (from: string): string => /@([^\s@>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'

/** The `Message-ID` of a key, so that a recipient of a duplicate can detect it. */
export function buildMessageId(idempotencyKey: string, domain: string): string {
  return `<${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 40)}@${domain}>`
}
