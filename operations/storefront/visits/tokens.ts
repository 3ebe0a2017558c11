/** Tokens of the storefront's forms: signed, bound to store and widget, so that a write shows that a form was read. */

import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { isSigned, sign } from '#runtime/secrets'

const livesMs = dayMs
/** Nobody fills in a form faster. */
const humanMs = 1_500

const purpose = 'storefront-form'
const textOf = (ctx: Context, widget: string, at: string): string => `${ctx.store.id}\n${widget}\n${at}`

/** What the form of a widget sends back. */
export function issueToken(ctx: Context, widget: string): string {
  const at = ctx.clock.ms().toString(36)
  return `${at}.${sign(ctx.settings, purpose, textOf(ctx, widget, at))}`
}

/** Whether a form came from a machine: sent too fast, or the hidden field filled. Refuses a bad or old token (400). */
export function isTrapped(
  ctx: Context,
  widget: string,
  { token, website }: { token: string; website?: string },
): boolean {
  const [at = '', signature = ''] = token.split('.')
  const age = ctx.clock.ms() - Number.parseInt(at, 36)
  if (!isSigned(ctx.settings, purpose, textOf(ctx, widget, at), signature) || !(age < livesMs)) {
    throw refuse('bad_request', 'token: is not valid any more: load the page again')
  }
  return age < humanMs || Boolean(website)
}
