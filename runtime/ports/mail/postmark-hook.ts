/**
 * Reads Postmark's webhooks. Postmark does not sign them: a webhook's URL carries user and password, which arrive as
 * basic authentication. An address is undeliverable once Postmark has deactivated it (`Inactive`).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from '#runtime/schema'
import { Refused } from '../errors.ts'
import type { MailEvent } from './port.ts'

/** The user name in the webhook's URL. */
export const hookUser = 'postmark'

const metadata = z.object({ store: z.string().optional(), key: z.string().optional() }).catch({})
const report = z.object({
  RecordType: z.string(),
  MessageID: z.string().nullish(),
  Type: z.string().nullish(),
  Email: z.string().nullish(),
  Recipient: z.string().nullish(),
  Description: z.string().nullish(),
  Inactive: z.boolean().nullish(),
  SuppressSending: z.boolean().nullish(),
  SuppressionReason: z.string().nullish(),
  BouncedAt: z.string().nullish(),
  ChangedAt: z.string().nullish(),
  Metadata: metadata,
})
type Report = z.infer<typeof report>

/** Throws `Refused`: `bad-signature` if user or password are wrong, `bad-body` if the body is no report. */
export function readPostmarkHook(password: string, headers: Headers, body: Uint8Array): MailEvent[] {
  const expected = `Basic ${Buffer.from(`${hookUser}:${password}`).toString('base64')}`
  if (!timingSafeEqual(digest(headers.get('authorization') ?? ''), digest(expected))) {
    throw new Refused('bad-signature', 'User or password of the webhook are missing or wrong')
  }
  const read = report.safeParse(parseJson(body))
  if (!read.success) throw new Refused('bad-body', 'The webhook has no report of Postmark')
  const event = toEvent(read.data)
  return event ? [event] : []
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

function toEvent(given: Report): MailEvent | null {
  const kind = findKind(given)
  const email = given.Email ?? given.Recipient
  if (!kind || !email) return null
  const occurredAt = given.BouncedAt ?? given.ChangedAt ?? ''
  const { store = null, key = null } = given.Metadata
  return {
    // A bounce arrives twice if the webhook has both triggers: as a bounce and as a change of the subscription.
    key: `${kind}:${given.MessageID ?? occurredAt}:${email}`,
    kind,
    occurredAt,
    storeRef: store,
    data: { email, messageKey: key, reason: given.Description ?? null },
  }
}

function findKind({ RecordType: record, ...given }: Report): MailEvent['kind'] | null {
  if (record === 'SpamComplaint' || (record === 'Bounce' && given.Type === 'SpamComplaint'))
    return 'complained'
  if (record === 'Bounce') return given.Inactive === true ? 'bounced' : null
  if (record !== 'SubscriptionChange') return null
  if (given.SuppressSending === false) return 'restored'
  // A manual suppression is a person who unsubscribed at Postmark, or the operator's decision.
  return given.SuppressionReason === 'HardBounce' ? 'bounced' : 'complained'
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    // Reported as a body without a report.
    return null
  }
}
