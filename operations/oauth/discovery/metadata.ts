/** What a client that knows the address of `/mcp` alone finds out from there. */
import { allScopes } from '#runtime/roles'
import { resourceOf } from '../resource.ts'

/** Where RFC 9728 puts that of `/mcp`. */
export const metadataPath = '/.well-known/oauth-protected-resource/mcp'

interface Place {
  publicUrl: string
}

/** RFC 9728, of `/mcp`. */
export const protectedResource = ({ publicUrl }: Place) => ({
  resource: resourceOf(publicUrl),
  authorization_servers: [publicUrl],
  scopes_supported: allScopes,
  bearer_methods_supported: ['header'],
  resource_name: 'Merchant API',
  resource_documentation: `${publicUrl}/docs/guides/assistants`,
})

/** RFC 8414. */
export const authorizationServer = ({ publicUrl }: Place) => ({
  issuer: publicUrl,
  authorization_endpoint: `${publicUrl}/oauth/authorize`,
  token_endpoint: `${publicUrl}/oauth/token`,
  registration_endpoint: `${publicUrl}/oauth/register`,
  revocation_endpoint: `${publicUrl}/oauth/revoke`,
  scopes_supported: allScopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  service_documentation: `${publicUrl}/docs/guides/assistants`,
})
