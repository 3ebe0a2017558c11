import { jsonAnswer, page } from '#runtime/page'
import { requireClient } from '../../clients/clients.ts'
import { OauthError, withOauthErrors } from '../../errors.ts'
import { limit } from '../../limits.ts'
import { requireResource } from '../../resource.ts'
import { exchangeCode } from '../exchange.ts'
import { readClientId, readFields } from '../fields.ts'
import { renewGrant } from '../grants.ts'

export default page({
  method: 'POST',
  path: '/oauth/token',
  description: 'Exchanges a code for a key, or a refresh token for a new text of the key (RFC 6749).',
  trust: 'The code with the verifier of its challenge, or the refresh token; only their hashes are stored.',
  handler: withOauthErrors(async (ctx, request) => {
    await limit(ctx, 'tokens', request.ip)
    const fields = await readFields(request)
    const clientId = readClientId(request, fields)
    await requireClient(ctx, clientId)
    requireResource(fields.optional('resource'), ctx.settings.publicUrl)
    const kind = fields.required('grant_type')
    if (kind === 'refresh_token')
      return jsonAnswer(await renewGrant(ctx, fields.required('refresh_token'), clientId))
    if (kind !== 'authorization_code')
      throw new OauthError(
        'unsupported_grant_type',
        'grant_type: must be authorization_code or refresh_token',
      )
    return jsonAnswer(
      await exchangeCode(ctx, {
        code: fields.required('code'),
        clientId,
        redirectUri: fields.optional('redirect_uri'),
        verifier: fields.required('code_verifier'),
      }),
    )
  }),
})
