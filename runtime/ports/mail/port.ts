import { createHash } from 'node:crypto'
import { Refused } from '../errors.ts'
import type { Precondition, ProviderEvent } from '../provider.ts'

/**
 * Sends emails, each to one address. Throws `Refused`, `Throttled` or `Unavailable` of `runtime/ports/errors.ts`, and
 * `AccessLost` if sending to any address would fail.
 */
export interface MailPort {
  /** Checks the preconditions of sending; sends nothing. */
  check(): Promise<Precondition[]>
  send(m: {
    /** One address without a name: `name@example.com`. */
    to: string
    /** `name@example.com` or `Shop <name@example.com>`; default: the adapter's own sender. */
    from?: string
    replyTo?: string
    subject: string
    html: string
    text: string
    headers?: Record<string, string>
    attachments?: { fileName: string; contentType: string; content: Uint8Array }[]
    /** Identifies the message: a repeated send with the same key has the same `messageId`, so it is harmless. */
    idempotencyKey: string
    /** The store that sends the mail, if any. The sandbox lists mail by store. */
    storeId?: string
  }): Promise<{ messageId: string }>
  /**
   * Reads a webhook of the provider. Throws `Refused`: `bad-signature` or `bad-body`. Absent if the provider has none, or
   * none is set up.
   */
  parseWebhook?(headers: Headers, body: Uint8Array): MailEvent[]
}

/**
 * A report about an address: mail bounces for good, the person reported the store's mail as spam or unsubscribed at the
 * provider, or the provider delivers to the address again. `storeRef` is the store that sent the mail, or null.
 */
export interface MailEvent extends ProviderEvent {
  kind: 'bounced' | 'complained' | 'restored'
  data: MailEventData
}
export interface MailEventData {
  email: string
  /** The idempotency key of the mail, or null. */
  messageKey: string | null
  /** The provider's description, or null. */
  reason: string | null
}

export type Mail = Parameters<MailPort['send']>[0]

/** The reasons for which a mail server refuses a message permanently. */
export const mailRefusalCodes = ['invalid-recipient', 'recipient-refused', 'message-refused'] as const
export type MailRefusal = (typeof mailRefusalCodes)[number]
/** Returns the code of a `Refused` that this port has thrown. */
export const toMailRefusal = ({ code }: Refused): MailRefusal =>
  mailRefusalCodes.find((each) => each === code) ?? 'message-refused'

/** Refuses anything but exactly one address: a list in `to` would send one person's mail to several people. */
export function checkRecipient(to: string): void {
  if (to.length > 320 || !/^[^\s@<>()[\]\\,;:"\x00-\x1f\x7f]+@[^\s@<>()[\]\\,;:"\x00-\x1f\x7f]+$/.test(to)) {
    throw new Refused('invalid-recipient', 'The address is not an email address')
  }
}

/** The domain of a sender such as `Shop <name@example.com>`. */
export const parseDomain = (from: string): string => /@([^\s@>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'

/** Derives the `Message-ID` from the key, so that mail programs can detect a duplicate. */
export function buildMessageId(idempotencyKey: string, domain: string): string {
  return `<${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 40)}@${domain}>`
}
