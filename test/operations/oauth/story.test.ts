/** The complete flow with the Model Context Protocol's own client, which only gets the address of `/mcp`. */
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentTransport,
} from '@modelcontextprotocol/client'
import { auth, type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type {
  OAuthClientInformationFull,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import { expect, test } from 'vitest'
import { listKeys, revokeKey } from '#scripts/admin/keys'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'
import { hand, hidden, queryOf, redirectUri } from './assistant.ts'

const app = await testApp({ publicUrl: 'http://localhost' })
const { approve, ownForm, send, revoke } = hand(app)
const address = new URL('http://localhost/mcp')
const fetchFn = ((url: URL | string, init?: RequestInit) =>
  Promise.resolve(app.fetch(new Request(url, init), { ip: '1.1.1.1' }))) as typeof fetch

class Kept implements OAuthClientProvider {
  client: OAuthClientInformationMixed | undefined
  kept: OAuthTokens | undefined
  verifier = ''
  ledTo: URL | null = null
  readonly redirectUrl = redirectUri
  readonly clientMetadata = {
    client_name: 'Official client',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_post',
  }
  state = () => 'its own state'
  clientInformation = () => this.client
  saveClientInformation(client: OAuthClientInformationFull) {
    this.client = client
  }
  tokens = () => this.kept
  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens
  }
  redirectToAuthorization(url: URL) {
    this.ledTo = url
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier
  }
  codeVerifier = () => this.verifier
}

const transportOf = (provider: Kept) =>
  new StreamableHTTPClientTransport(address, { authProvider: provider, fetch: fetchFn })

async function tools(transport: StreamableHTTPClientTransport): Promise<string[]> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree under exactOptionalPropertyTypes
  await client.connect(transport as any)
  return (await client.listTools()).tools.map(({ name }) => name)
}

test('a client goes from a 401 to tools, renews, and is revoked', async () => {
  const shop = await store(app)
  const provider = new Kept()

  // The 401 leads it to registration and to the authorize page.
  const first = transportOf(provider)
  await expect(tools(first)).rejects.toBeInstanceOf(UnauthorizedError)
  expect(provider.client).toMatchObject({ client_id: expect.any(String), token_endpoint_auth_method: 'none' })
  expect(provider.client).not.toHaveProperty('client_secret')
  expect(provider.ledTo!.href).toContain('http://localhost/oauth/authorize?')
  expect(provider.ledTo!.searchParams.get('resource')).toBe('http://localhost/mcp')

  // The merchant enters a key and chooses scopes.
  const { pathname, search } = provider.ledTo!
  const page = await send(`${pathname}${search}`)
  expect(page.status).toBe(200)
  const request = hidden(await page.text(), 'request')
  const second = await ownForm('/oauth/authorize', { request, key: shop.key })
  const html = await second.text()
  expect(html).toContain('Official client')
  expect(html).not.toContain(shop.key)
  const led = await ownForm('/oauth/consent', {
    consent: hidden(html, 'consent'),
    decision: 'yes',
    days: '90',
    'platform:read': 'on',
  })
  expect(led.status).toBe(303)
  const answer = queryOf(led)
  expect(led.headers.get('location')).toMatch(/^https:\/\/assistant\.example\/callback\?code=/)
  expect([answer.get('state'), answer.get('iss')]).toEqual(['its own state', 'http://localhost'])

  // The code becomes a key, and the key opens the tools.
  await first.finishAuth(answer.get('code')!)
  expect(provider.kept).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'platform:read' })
  const names = await tools(transportOf(provider))
  expect(names).toEqual(['list_operations', 'describe_operation', 'read_operation', 'call_operation'])

  // It is listed as a child key of the entered one.
  const listed = (await listKeys(app.database, shop.id))[0]!
  expect(listed).toMatchObject({
    name: 'Official client (assistant.example)',
    scopes: ['platform:read'],
    member: shop.email,
    parentId: expect.any(String),
    revokedAt: null,
  })
  expect(listed.prefix).toBe(provider.kept!.access_token.slice(0, 12))

  // An hour later the client renews by itself.
  const before = provider.kept!
  await app.advance(3600_000)
  expect(await tools(transportOf(provider))).toEqual(names)
  expect(provider.kept!.access_token).not.toBe(before.access_token)
  expect(provider.kept!.refresh_token).not.toBe(before.refresh_token)
  expect((await listKeys(app.database, shop.id)).filter(({ parentId }) => parentId)).toHaveLength(1)

  // Once revoked it is invalid, and the client must authorize again.
  const who = { clientId: provider.client!.client_id, verifier: '', query: {} }
  expect((await revoke(who, provider.kept!.refresh_token!)).status).toBe(200)
  provider.ledTo = null
  await expect(tools(transportOf(provider))).rejects.toThrow()
  expect(await auth(provider, { serverUrl: address, fetchFn }).catch((error) => error.errorCode)).toBe(
    'invalid_grant',
  )
  await expect(revokeKey(app.database, app.clock.now(), shop.id, listed.id)).resolves.toMatchObject({
    id: listed.id,
  })
})

test('the current client asks for more scopes after a 403, and calls again once they are granted', async () => {
  const shop = await store(app)
  let discovered: unknown
  const provider = Object.assign(new Kept(), {
    discoveryState: () => discovered,
    saveDiscoveryState: (state: unknown) => {
      discovered = state
    },
  })
  const connected = async () => {
    const transport = new CurrentTransport(address, { authProvider: provider as never, fetch: fetchFn })
    const client = new CurrentClient({ name: 'test', version: '1.0.0' })
    const attempt = client.connect(transport).then(
      () => true,
      () => false,
    )
    return { client, transport, isConnected: await attempt }
  }
  const first = await connected()
  expect(first.isConnected).toBe(false)
  const back = await approve(provider.ledTo!, shop.key)
  await first.transport.finishAuth(back.searchParams)
  expect(provider.kept!.scope).toBe('platform:read')

  const { client, transport } = await connected()
  const create = () =>
    client.callTool({
      name: 'call_operation',
      arguments: { operationId: 'post_campaigns_lists', body: { name: 'New' } },
    })
  provider.ledTo = null
  await expect(create()).rejects.toThrow(/nauthorized/)
  expect(provider.ledTo!.searchParams.get('scope')).toContain('platform:write')
  const more = await approve(provider.ledTo!, shop.key, { 'platform:read': 'on', 'platform:write': 'on' })
  await transport.finishAuth(more.searchParams)
  expect(await create()).not.toHaveProperty('isError', true)
  expect((await shop.request('GET', '/campaigns/lists')).body.total).toBe(1)
})
