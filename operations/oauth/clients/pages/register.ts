import { ApiError } from '#runtime/errors'
import { jsonAnswer, type PageRequest, page } from '#runtime/page'
import { newId } from '#runtime/values/ids'
import { OauthError, withOauthErrors } from '../../errors.ts'
import { limitRegistrations } from '../../limits.ts'
import { register } from '../clients.ts'
import { type ClientMetadata, clientMetadata, toClient } from '../metadata.ts'

const bodyAtMost = 64 * 1024

/** Reads the metadata. Refuses it with the error codes of RFC 7591, section 3.2.2. */
async function readMetadata(request: PageRequest): Promise<ClientMetadata> {
  try {
    return await request.json(clientMetadata, bodyAtMost)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'bad_request')) throw error
    const isRedirect = error.message.startsWith('redirect_uris')
    throw new OauthError(isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', error.message)
  }
}

export default page({
  method: 'POST',
  path: '/oauth/register',
  description: 'Registers a client that connects by OAuth; it is public and gets no secret (RFC 7591).',
  trust: 'Anybody may register: a client can do nothing until a merchant shows it a key. Limited by address.',
  handler: withOauthErrors(async (ctx, request) => {
    await limitRegistrations(ctx, request.ip)
    const client = toClient(newId(ctx.clock.ms()), await readMetadata(request))
    await register(ctx, client)
    return jsonAnswer(
      {
        client_id: client.id,
        client_id_issued_at: Math.floor(ctx.clock.ms() / 1000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
      201,
    )
  }),
})
