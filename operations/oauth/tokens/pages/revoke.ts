import { page } from '#runtime/page'
import { requireClient } from '../../clients/clients.ts'
import { withOauthErrors } from '../../errors.ts'
import { limit } from '../../limits.ts'
import { readClientId, readFields } from '../fields.ts'
import { revokeToken } from '../revoke.ts'

export default page({
  method: 'POST',
  path: '/oauth/revoke',
  description: 'Ends the grant of an assistant by one of its tokens (RFC 7009).',
  trust: 'The token itself, which is ended. An unknown token gets the same answer.',
  handler: withOauthErrors(async (ctx, request) => {
    await limit(ctx, 'tokens', request.ip)
    const fields = await readFields(request)
    const clientId = readClientId(request, fields)
    await requireClient(ctx, clientId)
    await revokeToken(ctx, fields.required('token'), clientId)
    return new Response(null, { status: 200, headers: { 'cache-control': 'no-store' } })
  }),
})
