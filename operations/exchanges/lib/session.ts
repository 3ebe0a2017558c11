/** The token of a shopper who named an order and its email or phone: signed, for one order of one store. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { equalText, sign } from '#runtime/secrets'

const livesMs = 30 * 60_000

const signed = (ctx: Context, at: string, orderId: string): string =>
  sign(ctx.settings.secretKey, 'exchange-session', `${ctx.store.id}\n${at}\n${orderId}`)

/** Good for 30 minutes. */
export function issueSession(ctx: Context, orderId: string): string {
  const at = ctx.clock.ms().toString(36)
  return [at, Buffer.from(orderId).toString('base64url'), signed(ctx, at, orderId)].join('.')
}

/** The platform's id of the order. Refuses (400) a token that is forged, of another store or past its time. */
export function orderOfSession(ctx: Context, token: string): string {
  const [at = '', encoded = '', signature = ''] = token.split('.')
  const orderId = Buffer.from(encoded, 'base64url').toString()
  const age = ctx.clock.ms() - Number.parseInt(at, 36)
  if (equalText(signature, signed(ctx, at, orderId)) && age < livesMs) return orderId
  throw refuse('bad_request', 'sessionToken: is not valid any more: look your order up again')
}
