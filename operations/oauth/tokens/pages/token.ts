import { jsonAnswer, page } from '#runtime/page'
import { answeringOauth, OauthError } from '../../errors.ts'
import { limit } from '../../limits.ts'
import { requireResource } from '../../resource.ts'
import { exchange } from '../exchange.ts'
import { readFields } from '../fields.ts'
import { renew } from '../grants.ts'

export default page({
  method: 'POST',
  path: '/oauth/token',
  description: 'Gives an assistant its key for a code, or a new text of it for a refresh token (RFC 6749).',
  trust: 'The code with the verifier of its challenge, or the refresh token; only their hashes are kept.',
  handler: answeringOauth(async (ctx, request) => {
    await limit(ctx, 'tokens', request.ip)
    const fields = await readFields(request)
    const clientId = fields.required('client_id')
    requireResource(fields.optional('resource'), ctx.settings.publicUrl)
    const kind = fields.required('grant_type')
    if (kind === 'refresh_token')
      return jsonAnswer(await renew(ctx, fields.required('refresh_token'), clientId))
    if (kind !== 'authorization_code')
      throw new OauthError(
        'unsupported_grant_type',
        'grant_type: must be authorization_code or refresh_token',
      )
    return jsonAnswer(
      await exchange(ctx, {
        code: fields.required('code'),
        clientId,
        redirectUri: fields.required('redirect_uri'),
        verifier: fields.required('code_verifier'),
      }),
    )
  }),
})
