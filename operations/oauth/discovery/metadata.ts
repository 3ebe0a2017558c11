/** Builds metadata documents. With them, a client that only knows `/mcp` finds the authorization server. */
import { allScopes } from '#runtime/roles'
import { getResourceUrl } from '../resource.ts'

/** The path that RFC 9728 defines for the metadata of `/mcp`. */
export const metadataPath = '/.well-known/oauth-protected-resource/mcp'

interface ServerAddress {
  publicUrl: string
}

/** Protected resource metadata of `/mcp` (RFC 9728). */
export const buildProtectedResource = ({ publicUrl }: ServerAddress) => ({
  resource: getResourceUrl(publicUrl),
  authorization_servers: [publicUrl],
  scopes_supported: allScopes,
  bearer_methods_supported: ['header'],
  resource_name: 'Merchant API',
  resource_documentation: `${publicUrl}/docs/guides/assistants`,
})

/** Authorization server metadata (RFC 8414). */
export const buildAuthorizationServer = ({ publicUrl }: ServerAddress) => ({
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
