/** What the two forms have in common: they are sent by our own pages alone, and whatever went wrong is a page. */
import type { SystemContext } from '#runtime/context'
import { Refusal, refuse } from '#runtime/errors'
import type { PageRequest } from '#runtime/page'
import { Astray, SentBack, words } from './asked.ts'
import { sentBack } from './consent.ts'
import { astrayPage, localeOf } from './forms.ts'

type Handler = (ctx: SystemContext, request: PageRequest) => Promise<Response>

/** The same handler; what nobody can be sent back for is a page, what the client is to know leads back to it. */
export const answeringPeople =
  (handler: Handler): Handler =>
  async (ctx, request) => {
    try {
      return await handler(ctx, request)
    } catch (error) {
      if (error instanceof Astray) return astrayPage(error, localeOf(request))
      if (error instanceof SentBack) {
        const { code, message } = error.cause
        return sentBack(ctx, error.to, { error: code, error_description: message })
      }
      if (error instanceof Refusal && error.code === 'rate_limited') {
        const page = astrayPage(new Astray(words.busy, error.message), localeOf(request), 429)
        page.headers.set('retry-after', error.headers?.['retry-after'] ?? '60')
        return page
      }
      throw error
    }
  }

/** Refuses a form that a page of another site sent: browsers tell whose it was, and cannot be made to lie. */
export function requireOwnPage({ settings }: SystemContext, request: PageRequest): void {
  const site = request.header('sec-fetch-site')
  const isOurs = request.header('origin') === new URL(settings.publicUrl).origin
  if (isOurs && (site === null || site === 'same-origin')) return
  throw refuse('forbidden', 'This form is taken from a page of this server alone')
}
