/** The complete flow with two independent OAuth libraries, from discovery to revocation. */
import https from 'node:https'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { hand, origin, redirectUri, serveDocuments } from './assistant.ts'

const app = await testApp({ publicUrl: origin })
const { approve } = hand(app)
const mcpAddress = new URL('/mcp', origin)

const toApp = (url: string, init: object): Promise<Response> =>
  Promise.resolve(app.fetch(new Request(url, init), { ip: '1.1.1.1' }))
/** Our test server has no TLS. */
const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: toApp }
const auth = oauth.None()

const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const callTool = (operationId: string, body: object) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'call_operation', arguments: { operationId, body } },
  })
const mcpHeaders = () =>
  new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' })
const callMcp = (token: string, body = listTools): Promise<Response> =>
  oauth.protectedResourceRequest(token, 'POST', mcpAddress, mcpHeaders(), body, options)
const lists = new URL('/v1/campaigns/lists', origin)
const readLists = (token: string): Promise<Response> =>
  oauth.protectedResourceRequest(token, 'GET', lists, undefined, null, options)
const createList = (token: string): Promise<Response> =>
  oauth.protectedResourceRequest(
    token,
    'POST',
    lists,
    new Headers({ 'content-type': 'application/json' }),
    '{"name":"New"}',
    options,
  )

/** The challenge that a library reads from `WWW-Authenticate`. */
const challengeOf = (error: unknown) => (error as oauth.WWWAuthenticateChallengeError).cause[0]!
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('It was not refused')
    },
    (error) => error,
  )

/** From the address of the resource to the metadata of its authorization server. */
async function discover(): Promise<{ resource: oauth.ResourceServer; as: oauth.AuthorizationServer }> {
  const resource = await oauth.processResourceDiscoveryResponse(
    mcpAddress,
    await oauth.resourceDiscoveryRequest(mcpAddress, options),
  )
  const issuer = new URL(resource.authorization_servers![0]!)
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }),
  )
  return { resource, as }
}

const register = async (as: oauth.AuthorizationServer, metadata: object = {}) =>
  oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      {
        client_name: 'Library',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        ...metadata,
      },
      options,
    ),
  )

/** The authorization by the merchant, and the exchange of the code. */
async function authorize(
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  shop: Shop,
  scopes: readonly string[],
  fields: Record<string, string> = Object.fromEntries(scopes.map((scope) => [scope, 'on'])),
) {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(as.authorization_endpoint!)
  url.search = String(
    new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: scopes.join(' '),
      state,
      resource: mcpAddress.href,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  )
  const back = await approve(url, shop.key, fields)
  // Also verifies `iss`, which the metadata announces (RFC 9207).
  const parameters = oauth.validateAuthResponse(as, client, back, state)
  return oauth.processAuthorizationCodeResponse(
    as,
    client,
    await oauth.authorizationCodeGrantRequest(as, client, auth, parameters, redirectUri, verifier, {
      additionalParameters: { resource: mcpAddress.href },
      ...options,
    }),
  )
}

const refresh = async (as: oauth.AuthorizationServer, client: oauth.Client, token: string) =>
  oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, auth, token, options),
  )
const revoke = async (as: oauth.AuthorizationServer, client: oauth.Client, token: string) =>
  oauth.processRevocationResponse(await oauth.revocationRequest(as, client, auth, token, options))

describe('oauth4webapi', () => {
  test('goes from the address of the resource to tokens, renews and revokes them', async () => {
    const shop = await store(app)
    const { resource, as } = await discover()
    expect(as).toMatchObject({ issuer: origin, authorization_response_iss_parameter_supported: true })
    expect(resource.scopes_supported).toContain('platform:read')
    const client = await register(as)
    const tokens = await authorize(as, client, shop, ['platform:read'])
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'platform:read' })

    // The token opens both the tools and the API.
    expect(await (await callMcp(tokens.access_token)).json()).toHaveProperty('result.tools')
    expect(await (await readLists(tokens.access_token)).json()).toMatchObject({ total: 0 })

    expect(challengeOf(await rejection(createList(tokens.access_token)))).toMatchObject({
      parameters: { error: 'insufficient_scope', scope: 'platform:read platform:write' },
    })

    // A replaced refresh token is refused, and ends the grant.
    const renewed = await refresh(as, client, tokens.refresh_token!)
    await app.services.accessChanged(shop.id)
    expect(challengeOf(await rejection(callMcp(tokens.access_token)))).toMatchObject({
      scheme: 'bearer',
      parameters: {
        error: 'invalid_token',
        scope: expect.any(String),
        resource_metadata: expect.any(String),
      },
    })
    expect(challengeOf(await rejection(readLists(tokens.access_token))).parameters.error).toBe(
      'invalid_token',
    )
    await app.advance(31_000)
    for (const token of [tokens.refresh_token!, renewed.refresh_token!])
      expect(await rejection(refresh(as, client, token))).toMatchObject({
        error: 'invalid_grant',
        status: 400,
      })

    const again = await authorize(as, client, shop, ['platform:read'])
    await revoke(as, client, again.refresh_token!)
    await rejection(callMcp(again.access_token))
    expect(await rejection(refresh(as, client, again.refresh_token!))).toMatchObject({
      error: 'invalid_grant',
    })
  })

  test('reads the errors: a refusal of the merchant, metadata that cannot be registered, a deleted client', async () => {
    const shop = await store(app)
    const { as } = await discover()
    const client = await register(as)
    expect(await rejection(authorize(as, client, shop, ['platform:read'], { decision: 'no' }))).toMatchObject(
      { name: 'AuthorizationResponseError', error: 'access_denied' },
    )
    for (const [metadata, error] of [
      [{ redirect_uris: ['javascript:1'] }, 'invalid_redirect_uri'],
      [{ grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ] as const)
      expect(await rejection(register(as, metadata))).toMatchObject({ error, status: 400 })

    const tokens = await authorize(as, client, shop, ['platform:read'])
    await app.database.root.deleteFrom('oauth_clients').where('id', '=', client.client_id).execute()
    const gone = { error: 'invalid_client', status: 401 }
    expect(await rejection(refresh(as, client, tokens.refresh_token!))).toMatchObject(gone)
    expect(await rejection(revoke(as, client, tokens.refresh_token!))).toMatchObject(gone)
  })

  test('learns from a 403 which scopes to ask for, and gets them', async () => {
    const shop = await store(app)
    const { as } = await discover()
    const client = await register(as)
    const tokens = await authorize(as, client, shop, ['platform:read'])
    const create = callTool('post_campaigns_lists', { name: 'Made by an assistant' })
    const refused = await rejection(callMcp(tokens.access_token, create))
    expect(refused).toMatchObject({ status: 403 })
    const { error, scope } = challengeOf(refused).parameters
    expect([error, scope]).toEqual(['insufficient_scope', 'platform:read platform:write'])

    const more = await authorize(as, client, shop, scope!.split(' '))
    expect(more.scope).toBe('platform:read platform:write')
    expect((await callMcp(more.access_token, create)).status).toBe(200)
    expect((await shop.request('GET', '/campaigns/lists')).body.total).toBe(1)
  })

  test('connects as a client whose id is the address of its document', async () => {
    const shop = await store(app)
    const { as } = await discover()
    expect(as.client_id_metadata_document_supported).toBe(true)
    const id = 'https://client.example/oauth/client.json'
    const document = { client_id: id, client_name: 'Documented', redirect_uris: [redirectUri] }
    const get = await serveDocuments({ '/oauth/client.json': [200, 'application/json', document] })
    const fetched = vi.spyOn(https, 'get').mockImplementation(get)
    onTestFinished(() => fetched.mockRestore())
    const client = { client_id: id }
    const tokens = await authorize(as, client, shop, ['platform:read'])
    const renewed = await refresh(as, client, tokens.refresh_token!)
    expect((await callMcp(renewed.access_token)).status).toBe(200)
    await revoke(as, client, renewed.access_token)
    expect(await rejection(refresh(as, client, renewed.refresh_token!))).toMatchObject({
      error: 'invalid_grant',
    })
  })
})

describe('openid-client', () => {
  /** Connects with the given configuration; returns the tokens. */
  async function connect(config: openid.Configuration, shop: Shop, scope = 'platform:read') {
    const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()]
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      state: expectedState,
      resource: mcpAddress.href,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const back = await approve(
      url,
      shop.key,
      Object.fromEntries(scope.split(' ').map((each) => [each, 'on'])),
    )
    return openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState })
  }
  const insecure = {
    algorithm: 'oauth2' as const,
    execute: [openid.allowInsecureRequests],
    [openid.customFetch]: toApp,
  }

  test('registers itself, connects, renews and revokes', async () => {
    const shop = await store(app)
    const config = await openid.dynamicClientRegistration(
      new URL(origin),
      { client_name: 'Library', redirect_uris: [redirectUri] },
      openid.None(),
      insecure,
    )
    const tokens = await connect(config, shop)
    expect([tokens.expiresIn(), tokens.scope]).toEqual([3600, 'platform:read'])
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token!, {
      resource: mcpAddress.href,
    })
    const read = await openid.fetchProtectedResource(config, renewed.access_token, lists, 'GET')
    expect(await read.json()).toMatchObject({ total: 0 })
    await openid.tokenRevocation(config, renewed.refresh_token!)
    expect(
      await rejection(openid.fetchProtectedResource(config, renewed.access_token, lists, 'GET')),
    ).toMatchObject({ code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 })
    expect(await rejection(openid.refreshTokenGrant(config, renewed.refresh_token!))).toMatchObject({
      error: 'invalid_grant',
    })
  })

  test('learns that it has to register again', async () => {
    const unknown = '01890000-0000-7000-8000-000000000000'
    const stale = await openid.discovery(new URL(origin), unknown, undefined, openid.None(), insecure)
    expect(await rejection(openid.refreshTokenGrant(stale, 'a.b'))).toMatchObject({ error: 'invalid_client' })
  })

  test('connects although it authenticates with a secret, which no client has here', async () => {
    const shop = await store(app)
    const metadata = { client_name: 'Library', redirect_uris: [redirectUri] }
    for (const way of [
      openid.ClientSecretBasic('its%own: secret'),
      openid.ClientSecretPost('x'),
      undefined,
    ]) {
      const config = await openid.dynamicClientRegistration(new URL(origin), metadata, way, insecure)
      const tokens = await connect(config, shop)
      await openid.tokenRevocation(config, tokens.refresh_token!)
      expect(await rejection(openid.refreshTokenGrant(config, tokens.refresh_token!))).toMatchObject({
        error: 'invalid_grant',
      })
      await app.database.root.deleteFrom('oauth_clients').execute()
      expect(await rejection(openid.refreshTokenGrant(config, 'a.b'))).toMatchObject({ status: 401 })
    }
  })
})
