/** What follows a shopper's move: the request as it is then, or the way back to its page. */
import type { Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { jsonAnswer } from '#runtime/page'
import type { ExchangeContent } from '../settings/schema.ts'
import { pagesBase } from './page-words.ts'
import { findView } from './view.ts'

/** To the page, so that loading it again sends nothing again. */
export const seeOther = (location: string): Response =>
  new Response(null, { status: 303, headers: { location } })

export async function answerAfter(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const token = visit.params.statusToken!
  if (visit.isForm) return seeOther(`${pagesBase(ctx)}/requests/${encodeURIComponent(token)}`)
  return jsonAnswer(await findView(ctx, settings, token))
}
