import { page } from '#runtime/page'
import { limit } from '../../limits.ts'
import { parseAuthorizationRequest } from '../authorization-request.ts'
import { withErrorPages } from '../form-guards.ts'
import { getLocale, renderKeyForm } from '../forms.ts'

export default page({
  method: 'GET',
  path: '/oauth/authorize',
  description: 'Asks a merchant, sent by an assistant, for the key of their store.',
  trust: 'It shows the client and changes nothing; answers go only to addresses that the client registered.',
  handler: withErrorPages(async (ctx, request) => {
    await limit(ctx, 'authorize', request.ip)
    const asked = await parseAuthorizationRequest(ctx, request.parameters())
    return renderKeyForm(ctx, asked, getLocale(request))
  }),
})
