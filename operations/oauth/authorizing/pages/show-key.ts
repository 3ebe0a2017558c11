import { Refusal } from '#runtime/errors'
import { page } from '#runtime/page'
import { limit } from '../../limits.ts'
import { openedAsked } from '../asked.ts'
import { openedShown, sealedShown, sentBack, showKey } from '../consent.ts'
import { consentForm, keyForm, localeOf } from '../forms.ts'
import { answeringPeople, requireOwnPage } from '../own-form.ts'

export default page({
  method: 'POST',
  path: '/oauth/authorize',
  description: 'Takes the key that a merchant shows, and asks what of it the assistant is granted.',
  trust: 'The key itself, from our own page alone; how many are tried from an address is limited.',
  handler: answeringPeople(async (ctx, request) => {
    requireOwnPage(ctx, request)
    const fields = await request.fields()
    const asked = openedAsked(ctx, fields.request)
    if (fields.decision === 'no') return sentBack(ctx, asked, { error: 'access_denied' })
    const locale = localeOf(request)
    try {
      await limit(ctx, 'keys', request.ip)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const minutes = Math.ceil(Number(error.headers?.['retry-after']) / 60)
      return keyForm(ctx, asked, locale, 'too-often', minutes)
    }
    const shown = await showKey(ctx, asked, fields.key ?? '')
    if (typeof shown === 'string') return keyForm(ctx, asked, locale, shown)
    const { parent } = await openedShown(ctx, sealedShown(ctx, shown))
    return consentForm(ctx, shown, parent)
  }),
})
