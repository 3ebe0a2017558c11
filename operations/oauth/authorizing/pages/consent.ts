import { dayMs } from '#runtime/durations'
import { page } from '#runtime/page'
import { limit } from '../../limits.ts'
import { grantable, makeCode, openedShown, sentBack } from '../consent.ts'
import { consentForm, termsInDays } from '../forms.ts'
import { answeringPeople, requireOwnPage } from '../own-form.ts'

export default page({
  method: 'POST',
  path: '/oauth/consent',
  description: 'Grants an assistant what the merchant chose, and leads back to it with a code.',
  trust: 'The sealed form, which only who showed the key has, from our own page alone.',
  handler: answeringPeople(async (ctx, request) => {
    requireOwnPage(ctx, request)
    await limit(ctx, 'authorize', request.ip)
    const fields = await request.fields()
    const { shown, parent } = await openedShown(ctx, fields.consent)
    if (fields.decision !== 'yes') return sentBack(ctx, shown.asked, { error: 'access_denied' })
    // Whatever the form says, nothing is granted that was not asked for or that the key does not have.
    const picked = grantable(shown.asked, parent).filter((scope) => fields[scope] === 'on')
    const needsWrite = picked.some((scope) => !scope.startsWith('platform:'))
    if (picked.length === 0 || (needsWrite && !picked.includes('platform:write')))
      return consentForm(ctx, shown, parent, picked)
    const days = termsInDays.find((each) => String(each) === fields.days) ?? termsInDays[0]
    const code = await makeCode(ctx, shown, picked, new Date(ctx.clock.ms() + days * dayMs))
    return sentBack(ctx, shown.asked, { code })
  }),
})
