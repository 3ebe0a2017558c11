/**
 * Signed tokens of storefront forms, each for one store and widget. A token proves when the form was loaded, before it was
 * sent.
 */

import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { hasValidSignature, sign } from '#runtime/secrets'

const lifetimeMs = dayMs
/** A form sent sooner than this after it was loaded was filled in by a bot. */
const minFillMs = 1_500

const purpose = 'storefront-form'
const toSignedText = (ctx: Context, widget: string, at: string): string => `${ctx.store.id}\n${widget}\n${at}`

/** The token that a widget's form sends back. */
export function issueToken(ctx: Context, widget: string): string {
  const at = ctx.clock.ms().toString(36)
  return `${at}.${sign(ctx.settings, purpose, toSignedText(ctx, widget, at))}`
}

/**
 * Whether a bot sent the form: it was too fast, or filled in the hidden field. Refuses an invalid or expired token (400).
 */
export function isTrapped(
  ctx: Context,
  widget: string,
  { token, website }: { token: string; website?: string },
): boolean {
  const [at = '', signature = ''] = token.split('.')
  const age = ctx.clock.ms() - Number.parseInt(at, 36)
  if (
    !hasValidSignature(ctx.settings, purpose, toSignedText(ctx, widget, at), signature) ||
    !(age < lifetimeMs)
  ) {
    throw refuse('bad_request', 'token: is not valid any more: load the page again')
  }
  return age < minFillMs || Boolean(website)
}
