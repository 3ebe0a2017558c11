/** The token of a shopper who named an order and its email or phone: signed, for one order of one store. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { isSigned, sign } from '#runtime/secrets'
import { randomText } from '#runtime/values/ids'

const livesMs = 30 * minuteMs

const purpose = 'exchange-session'
const textOf = (ctx: Context, at: string, orderId: string): string => `${ctx.store.id}\n${at}\n${orderId}`

/** Good for 30 minutes; no two are alike. */
export function issueSession(ctx: Context, orderId: string): string {
  const at = `${ctx.clock.ms().toString(36)}-${randomText(8)}`
  const signature = sign(ctx.settings, purpose, textOf(ctx, at, orderId))
  return [at, Buffer.from(orderId).toString('base64url'), signature].join('.')
}

/** The platform's id of the order; null for a token that is forged, of another store or past its time. */
export function openOrder(ctx: Context, token: string): string | null {
  const [at = '', encoded = '', signature = ''] = token.split('.')
  const orderId = Buffer.from(encoded, 'base64url').toString()
  const age = ctx.clock.ms() - Number.parseInt(at, 36)
  const isOpen = isSigned(ctx.settings, purpose, textOf(ctx, at, orderId), signature) && age < livesMs
  return isOpen ? orderId : null
}

/** The same, where a token that is not good any more is refused (400). */
export function orderOfSession(ctx: Context, token: string): string {
  const orderId = openOrder(ctx, token)
  if (orderId !== null) return orderId
  throw refuse('bad_request', {
    en: 'sessionToken: is not valid any more: look your order up again',
    'pt-BR': 'sessionToken: expirou, procure o pedido de novo',
    es: 'sessionToken: ha caducado, vuelve a buscar el pedido',
  })
}
