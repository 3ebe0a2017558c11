/** Wrappers for the handlers of the two forms: require same-origin submission, and show errors as pages. */
import type { SystemContext } from '#runtime/context'
import { ApiError, refuse } from '#runtime/errors'
import type { PageRequest } from '#runtime/page'
import { PageError, RedirectError, words } from './authorization-request.ts'
import { redirectToClient } from './consent.ts'
import { getLocale, renderErrorPage } from './forms.ts'

type Handler = (ctx: SystemContext, request: PageRequest) => Promise<Response>

/** Wraps a handler: a `PageError` becomes a page, a `RedirectError` redirects to the client. */
export const withErrorPages =
  (handler: Handler): Handler =>
  async (ctx, request) => {
    try {
      return await handler(ctx, request)
    } catch (error) {
      if (error instanceof PageError) return renderErrorPage(error, getLocale(request))
      if (error instanceof RedirectError) {
        const { code, message } = error.cause
        return redirectToClient(ctx, error.to, { error: code, error_description: message })
      }
      if (error instanceof ApiError && error.code === 'rate_limited') {
        const page = renderErrorPage(new PageError(words.busy, error.message), getLocale(request), 429)
        page.headers.set('retry-after', error.headers?.['retry-after'] ?? '60')
        return page
      }
      throw error
    }
  }

/** Refuses a form sent by a page of another site (CSRF): browsers set these headers and pages cannot forge them. */
export function requireSameOrigin({ settings }: SystemContext, request: PageRequest): void {
  const site = request.header('sec-fetch-site')
  const isOurs = request.header('origin') === new URL(settings.publicUrl).origin
  if (isOurs && (site === null || site === 'same-origin')) return
  throw refuse('forbidden', 'This form is taken from a page of this server alone')
}
