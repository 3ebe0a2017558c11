/** Signs the sandbox's webhooks like a provider does, and parses them when they arrive. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refused } from '#runtime/ports/errors'
import { z } from '#runtime/schema'
import type { BillingEvent } from './port.ts'

/** The header with the HMAC-SHA256 of the raw body, in hex. */
export const signatureHeader = 'x-sandbox-signature'

export interface SignedHook {
  headers: Headers
  body: Uint8Array
}

const instant = z.string().datetime()
const bodySchema = z.object({
  events: z.array(
    z.object({
      key: z.string().min(1).max(200),
      kind: z.enum(['checkout', 'agreement', 'payment']),
      occurredAt: instant,
      storeRef: z.string().uuid(),
      data: z.object({
        agreementId: z.string().nullable(),
        checkoutId: z.string().nullable(),
        paymentId: z.string().nullable(),
        outcome: z.enum(['approved', 'rejected']).nullable(),
        failureReason: z.string().nullable(),
        payment: z.object({ id: z.string(), updatedAt: instant }).passthrough().nullable(),
        agreement: z.object({ id: z.string(), status: z.string() }).passthrough().nullable(),
      }),
    }),
  ),
})

export function signHook(secret: string, events: readonly BillingEvent[]): SignedHook {
  const body = Buffer.from(JSON.stringify({ events }))
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  return { headers: new Headers({ 'content-type': 'application/json', [signatureHeader]: signature }), body }
}

/** Throws `Refused` with `bad-signature`, which is checked before the body is parsed, or with `bad-body`. */
export function parseHook(secret: string, headers: Headers, rawBody: Uint8Array): BillingEvent[] {
  const given = Buffer.from(headers.get(signatureHeader) ?? '', 'hex')
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Refused('bad-signature', 'The signature of the hook is missing or wrong')
  }
  const parsed = bodySchema.safeParse(parseJson(rawBody))
  if (!parsed.success)
    throw new Refused('bad-body', 'The body of the hook is not of the form that was agreed')
  return parsed.data.events as unknown as BillingEvent[]
}

function parseJson(rawBody: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody))
  } catch (error) {
    throw new Refused('bad-body', 'The body of the hook is not JSON', { cause: error })
  }
}
