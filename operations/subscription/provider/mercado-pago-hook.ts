/** Mercado Pago's notifications: `x-signature: ts=…,v1=…`, whose body names an object and says nothing of it. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { dayMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { z } from '#runtime/schema'

const notification = z.object({
  type: z.string().optional(),
  topic: z.string().optional(),
  date_created: z.string().optional(),
  // Of subscriptions and their invoices, which have no `date_created`.
  date: z.string().optional(),
  data: z.object({ id: z.union([z.string(), z.number()]).transform(String) }),
})

export interface Notification {
  /** `payment`, `subscription_preapproval`, `subscription_authorized_payment`… */
  type: string
  id: string
  /** What it tells of has not changed before; null where that is not known. */
  since: Date | null
}

/** What is told late, or once more. */
const looksBackMs = 2 * dayMs
/** Nothing is sent again for so long after it was first; `date` may be when its object was made, years ago. */
const sentAgainForMs = 30 * dayMs

/**
 * What a signed notification is about. The signature covers id, request id and instant alone, and so nothing else of
 * the body is believed. Throws `Refused`: `bad-signature` or `bad-body`.
 */
export function readNotification(secret: string, headers: Headers, rawBody: Uint8Array): Notification {
  const { ts, v1 } = partsOf(headers.get('x-signature') ?? '')
  const read = notification.safeParse(jsonOf(rawBody))
  const id = read.success ? read.data.data.id : ''
  const given = Buffer.from(v1, 'hex')
  const expected = createHmac('sha256', secret)
    .update(manifestOf(id, headers.get('x-request-id'), ts))
    .digest()
  if (!ts || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Refused('bad-signature', 'The signature of the notification is missing or wrong')
  }
  const type = read.success ? (read.data.type ?? read.data.topic) : undefined
  if (!read.success || !type || !/^[\w-]{1,64}$/.test(id)) {
    throw new Refused('bad-body', 'The notification names no object')
  }
  return { type, id, since: sinceOf(read.data.date_created ?? read.data.date, ts) }
}

/** The instant that is signed is when it was sent, this time; in seconds, or milliseconds. */
function sinceOf(date: string | undefined, ts: string): Date | null {
  const stamp = Number(ts)
  const sentAt = /^\d{10,13}$/.test(ts) ? stamp * (ts.length > 11 ? 1 : 1000) : Number.NaN
  const madeAt = Date.parse(date ?? '')
  const known = [madeAt - looksBackMs, sentAt - sentAgainForMs].filter((at) => !Number.isNaN(at))
  return known.length === 0 ? null : new Date(Math.max(...known))
}

/** What is signed: parts that a notification does not have are left out, ids are in lower case. */
const manifestOf = (id: string, requestId: string | null, ts: string): string =>
  (id ? `id:${id.toLowerCase()};` : '') +
  (requestId ? `request-id:${requestId};` : '') +
  (ts ? `ts:${ts};` : '')

function partsOf(header: string): { ts: string; v1: string } {
  const parts = new Map(
    header.split(',').map((part) => {
      const [name = '', ...value] = part.trim().split('=')
      return [name, value.join('=')]
    }),
  )
  return { ts: parts.get('ts') ?? '', v1: parts.get('v1') ?? '' }
}

function jsonOf(rawBody: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody))
  } catch {
    // Looked at once the signature is: who does not sign learns nothing of what is read.
    return null
  }
}
