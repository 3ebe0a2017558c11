/** Mercado Pago's notifications: `x-signature: ts=…,v1=…`, whose body names an object and says nothing of it. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from '../../schema.ts'
import { Refused } from '../errors.ts'

const notification = z.object({
  type: z.string().optional(),
  topic: z.string().optional(),
  date_created: z.string().optional(),
  data: z.object({ id: z.union([z.string(), z.number()]).transform(String) }),
})

export interface Notification {
  /** `payment`, `subscription_preapproval`, `subscription_authorized_payment`… */
  type: string
  id: string
  /** When it was made; null where it does not say. */
  at: Date | null
}

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
  const at = Date.parse(read.data.date_created ?? '')
  return { type, id, at: Number.isNaN(at) ? null : new Date(at) }
}

/** What is signed: parts that a notification does not have are left out, ids are in lower case. */
export const manifestOf = (id: string, requestId: string | null, ts: string): string =>
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
