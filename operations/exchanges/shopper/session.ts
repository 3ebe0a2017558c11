/** Session tokens: a successful lookup issues a signed token that gives access to one order of one store. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { hasValidSignature, sign } from '#runtime/secrets'
import { randomText } from '#runtime/values/ids'

const sessionMs = 30 * minuteMs

const purpose = 'exchange-session'
const buildSignedText = (ctx: Context, at: string, orderId: string): string =>
  `${ctx.store.id}\n${at}\n${orderId}`

/** Issues a unique token, valid for 30 minutes. */
export function issueSession(ctx: Context, orderId: string): string {
  const at = `${ctx.clock.ms().toString(36)}-${randomText(8)}`
  const signature = sign(ctx.settings, purpose, buildSignedText(ctx, at, orderId))
  return [at, Buffer.from(orderId).toString('base64url'), signature].join('.')
}

/** Returns the platform's order id; null if the token is forged, expired or of another store. */
export function readSession(ctx: Context, token: string): string | null {
  const [at = '', encoded = '', signature = ''] = token.split('.')
  const orderId = Buffer.from(encoded, 'base64url').toString()
  const age = ctx.clock.ms() - Number.parseInt(at, 36)
  const isOpen =
    hasValidSignature(ctx.settings, purpose, buildSignedText(ctx, at, orderId), signature) && age < sessionMs
  return isOpen ? orderId : null
}

/** Like `readSession`, but refuses (400) an invalid token. */
export function requireSession(ctx: Context, token: string): string {
  const orderId = readSession(ctx, token)
  if (orderId !== null) return orderId
  throw refuse('bad_request', {
    en: 'sessionToken: is not valid any more: look your order up again',
    'pt-BR': 'sessionToken: expirou, procure o pedido de novo',
    es: 'sessionToken: ha caducado, vuelve a buscar el pedido',
  })
}
