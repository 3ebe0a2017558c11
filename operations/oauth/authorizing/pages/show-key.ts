import { ApiError } from '#runtime/errors'
import { page } from '#runtime/page'
import { limit } from '../../limits.ts'
import { unsealRequest } from '../authorization-request.ts'
import { checkKey, redirectToClient, sealShownKey, unsealShownKey } from '../consent.ts'
import { requireSameOrigin, withErrorPages } from '../form-guards.ts'
import { getLocale, renderConsentForm, renderKeyForm } from '../forms.ts'

export default page({
  method: 'POST',
  path: '/oauth/authorize',
  description: 'Takes the key of a merchant, and asks which of its scopes the assistant is granted.',
  trust: 'The key itself, sent from our own page; the attempts from an address are limited.',
  handler: withErrorPages(async (ctx, request) => {
    requireSameOrigin(ctx, request)
    const fields = await request.fields()
    const asked = unsealRequest(ctx, fields.request)
    if (fields.decision === 'no') return redirectToClient(ctx, asked, { error: 'access_denied' })
    const locale = getLocale(request)
    try {
      await limit(ctx, 'keys', request.ip)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const minutes = Math.ceil(Number(error.headers?.['retry-after']) / 60)
      return renderKeyForm(ctx, asked, locale, 'too-often', minutes)
    }
    const shown = await checkKey(ctx, asked, fields.key ?? '')
    if (typeof shown === 'string') return renderKeyForm(ctx, asked, locale, shown)
    return renderConsentForm(ctx, await unsealShownKey(ctx, sealShownKey(ctx, shown)))
  }),
})
