import { dayMs } from '#runtime/durations'
import { page } from '#runtime/page'
import { limit } from '../../limits.ts'
import { createCode, listGrantableScopes, redirectToClient, unsealShownKey } from '../consent.ts'
import { requireSameOrigin, withErrorPages } from '../form-guards.ts'
import { grantDays, renderConsentForm } from '../forms.ts'

export default page({
  method: 'POST',
  path: '/oauth/consent',
  description: 'Grants an assistant the chosen scopes, and redirects to it with a code.',
  trust: 'The sealed form, which only the holder of the key has, sent from our own page.',
  handler: withErrorPages(async (ctx, request) => {
    requireSameOrigin(ctx, request)
    await limit(ctx, 'authorize', request.ip)
    const fields = await request.fields()
    const decision = await unsealShownKey(ctx, fields.consent)
    const { shown, parent } = decision
    if (fields.decision !== 'yes') return redirectToClient(ctx, shown.asked, { error: 'access_denied' })
    // Only scopes that were requested and that the key has can be granted, whatever the form contains.
    const picked = listGrantableScopes(shown.asked, parent).filter((scope) => fields[scope] === 'on')
    const needsWrite = picked.some((scope) => !scope.startsWith('platform:'))
    if (picked.length === 0 || (needsWrite && !picked.includes('platform:write')))
      return renderConsentForm(ctx, decision, picked)
    const days = grantDays.find((each) => String(each) === fields.days) ?? grantDays[0]
    const code = await createCode(ctx, shown, picked, new Date(ctx.clock.ms() + days * dayMs))
    return redirectToClient(ctx, shown.asked, { code })
  }),
})
