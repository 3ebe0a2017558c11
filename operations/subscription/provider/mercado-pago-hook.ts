/** Reads Mercado Pago's notifications, signed by `x-signature: ts=…,v1=…`. The body only names a changed object. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { dayMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { z } from '#runtime/schema'

const notification = z.object({
  type: z.string().optional(),
  topic: z.string().optional(),
  date_created: z.string().optional(),
  // Replaces `date_created` in notifications about subscriptions and their invoices.
  date: z.string().optional(),
  data: z.object({ id: z.union([z.string(), z.number()]).transform(String) }),
})

export interface Notification {
  /** `payment`, `subscription_preapproval`, `subscription_authorized_payment`… */
  type: string
  id: string
  /** The change that is notified happened after this instant; null when unknown. */
  since: Date | null
}

/** How long before the notification's date its change may have happened. */
const lookbackMs = 2 * dayMs
/** Notifications are resent for less than 30 days. Needed because `date` may be when the object was created, years ago. */
const resendWindowMs = 30 * dayMs

/**
 * Reads a signed notification. The signature covers only id, request id and timestamp, so nothing else in the body is
 * trusted. Throws `Refused`: `bad-signature` or `bad-body`.
 */
export function readNotification(secret: string, headers: Headers, rawBody: Uint8Array): Notification {
  const { ts, v1 } = parseSignature(headers.get('x-signature') ?? '')
  const read = notification.safeParse(parseJson(rawBody))
  const id = read.success ? read.data.data.id : ''
  const given = Buffer.from(v1, 'hex')
  const expected = createHmac('sha256', secret)
    .update(buildManifest(id, headers.get('x-request-id'), ts))
    .digest()
  if (!ts || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Refused('bad-signature', 'The signature of the notification is missing or wrong')
  }
  const type = read.success ? (read.data.type ?? read.data.topic) : undefined
  if (!read.success || !type || !/^[\w-]{1,64}$/.test(id)) {
    throw new Refused('bad-body', 'The notification names no object')
  }
  return { type, id, since: findSince(read.data.date_created ?? read.data.date, ts) }
}

/** The earliest possible instant of the change. `ts` is when this delivery was sent, in seconds or milliseconds. */
function findSince(date: string | undefined, ts: string): Date | null {
  const stamp = Number(ts)
  const sentAt = /^\d{10,13}$/.test(ts) ? stamp * (ts.length > 11 ? 1 : 1000) : Number.NaN
  const madeAt = Date.parse(date ?? '')
  const known = [madeAt - lookbackMs, sentAt - resendWindowMs].filter((at) => !Number.isNaN(at))
  return known.length === 0 ? null : new Date(Math.max(...known))
}

/** Builds the text that is signed. Missing parts are left out; ids are in lower case. */
const buildManifest = (id: string, requestId: string | null, ts: string): string =>
  (id ? `id:${id.toLowerCase()};` : '') +
  (requestId ? `request-id:${requestId};` : '') +
  (ts ? `ts:${ts};` : '')

function parseSignature(header: string): { ts: string; v1: string } {
  const parts = new Map(
    header.split(',').map((part) => {
      const [name = '', ...value] = part.trim().split('=')
      return [name, value.join('=')]
    }),
  )
  return { ts: parts.get('ts') ?? '', v1: parts.get('v1') ?? '' }
}

function parseJson(rawBody: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody))
  } catch {
    // Reported only after the signature check, so that an unsigned request learns nothing about the parser.
    return null
  }
}
