/** Attacks: steps made by somebody else, or made twice. */
import { describe, expect, test } from 'vitest'
import { isDocumentAddress, readDocument } from '#operations/oauth/clients/document'
import { buildFormAction, findRedirectIssue, isRegistered } from '#operations/oauth/clients/redirects'
import { isPublicAddress } from '#runtime/http/public-fetch'
import { allScopes } from '#runtime/roles'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'
import {
  type Changes,
  errorOf,
  given,
  hand,
  origin,
  queryOf,
  redirectUri,
  serveDocuments,
} from './assistant.ts'

const app = await testApp({ publicUrl: origin })
const it = hand(app)

describe('an unauthorized request', () => {
  test('gets the metadata address and the reason against its key', async () => {
    const where = 'resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"'
    const scope = `scope="${allScopes.join(' ')}"`
    expect((await it.mcp(null)).headers.get('www-authenticate')).toBe(`Bearer ${scope}, ${where}`)
    const bad = await it.mcp('nonsense')
    expect(bad.status).toBe(401)
    expect(bad.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${scope}, ${where}`)
  })

  test('finds metadata documents that name each other and their own address', async () => {
    for (const path of ['', '/mcp']) {
      const answer = await it.send(`/.well-known/oauth-protected-resource${path}`)
      expect(await answer.json()).toMatchObject({
        resource: 'http://localhost/mcp',
        authorization_servers: ['http://localhost'],
      })
    }
    expect(await (await it.send('/.well-known/oauth-authorization-server')).json()).toMatchObject({
      issuer: 'http://localhost',
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
  })
})

describe('registering', () => {
  test('ignores unknown fields and gives no secret', async () => {
    const answer = await it.register({
      token_endpoint_auth_method: 'client_secret_basic',
      contacts: ['a@b.example'],
      jwks: { keys: [{ kty: 'RSA' }] },
      logo_uri: 'https://assistant.example/logo.png',
    })
    expect(answer.status).toBe(201)
    const body = await answer.json()
    expect(body).toMatchObject({ token_endpoint_auth_method: 'none', redirect_uris: [redirectUri] })
    expect(body).not.toHaveProperty('client_secret')
  })

  test.each([
    ['http://assistant.example/callback'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['https://assistant.example/#here'],
    ['https://user@assistant.example/'],
    ['nowhere'],
    ['https://assistant.example/\nx'],
  ])('%j is no redirect address', async (address) => {
    const answer = await it.register({ redirect_uris: [address] })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: expect.stringMatching(/^invalid_re/) })
  })

  test('is refused with the codes of RFC 7591', async () => {
    expect(await errorOf(await it.register({ redirect_uris: 'https://a.example/' }))).toEqual([
      400,
      'invalid_redirect_uri',
    ])
    expect(await errorOf(await it.register({ client_name: 5 }))).toEqual([400, 'invalid_client_metadata'])
  })

  test('is limited by address', async () => {
    const from = (ip: string) =>
      it.send(
        '/oauth/register',
        { method: 'POST', body: JSON.stringify({ redirect_uris: [redirectUri] }) },
        ip,
      )
    for (let i = 0; i < 60; i += 1) expect((await from('9.9.9.9')).status).toBe(201)
    const refused = await from('9.9.9.9')
    expect(await errorOf(refused)).toEqual([429, 'temporarily_unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await from('9.9.9.8')).status).toBe(201)
  })
})

describe('the redirect address', () => {
  test('is compared exactly, except for the port of a loopback address', () => {
    const known = ['https://a.example/cb', 'http://127.0.0.1/cb', 'http://localhost:1/cb', 'http://[::1]/cb']
    for (const same of [
      'https://a.example/cb',
      'http://127.0.0.1:5/cb',
      'http://localhost/cb',
      'http://[::1]:9/cb',
    ])
      expect([same, isRegistered(known, same)]).toEqual([same, true])
    for (const strange of [
      'https://a.example/cb/',
      'https://a.example:444/cb',
      'https://A.example/cb',
      'https://a.example/cb?x=1',
      'http://127.0.0.1:5/other',
      'http://127.0.0.1.a.example:5/cb',
      'http://user@127.0.0.1:5/cb',
      'http://127.0.0.1:5/cb#x',
      'https://127.0.0.1/cb',
    ])
      expect([strange, isRegistered(known, strange)]).toEqual([strange, false])
  })

  test('may use schemes of programs, but not those of browsers', () => {
    expect(findRedirectIssue('cursor://anysphere.cursor/callback')).toBeNull()
    expect(findRedirectIssue('com.example.app:/callback')).toBeNull()
    for (const scheme of ['file:///x', 'blob:https://a.example/1', 'ftp://a.example/', 'ws://a.example/'])
      expect([scheme, findRedirectIssue(scheme)]).toEqual([scheme, expect.any(String)])
    expect(buildFormAction('cursor://x/y')).toBe('https: cursor:')
    expect(buildFormAction('http://127.0.0.1:8/y')).toBe('https: http://127.0.0.1:8')
  })

  test.each<[string, Changes, string]>([
    ['an unknown client', { client_id: '01890000-0000-7000-8000-000000000000' }, 'client_id'],
    ['no client', { client_id: null }, 'client_id'],
    ['another address', { redirect_uri: 'https://evil.example/callback' }, 'redirect_uri'],
    ['an address below it', { redirect_uri: `${redirectUri}/more` }, 'redirect_uri'],
    ['no address', { redirect_uri: null }, 'redirect_uri'],
    ['a document within this machine', { client_id: 'https://127.0.0.1/client.json' }, 'no public address'],
    ['a document of the cloud', { client_id: 'https://169.254.169.254/latest/meta' }, 'no public address'],
    [
      'a document by a name of this machine',
      { client_id: 'https://localhost/client.json' },
      'no public address',
    ],
    ['a document without TLS', { client_id: 'http://127.0.0.1/client.json' }, 'client_id'],
  ])('%s shows a page without a redirect', async (_what, changes, text) => {
    const { query } = await it.assistant()
    const answer = await it.authorize(given(query, changes))
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect(await answer.text()).toContain(text)
  })

  test('a repeated parameter shows a page', async () => {
    const { query } = await it.assistant()
    const twice = new URLSearchParams([...given(query), ['redirect_uri', 'https://evil.example/']])
    expect((await it.authorize(twice)).status).toBe(400)
  })

  test.each<[string, Changes, string]>([
    ['no challenge', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method, which means plain', { code_challenge_method: null }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['tokens at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['scopes of nobody', { scope: 'root admin' }, 'invalid_scope'],
  ])('%s redirects to the client with state and iss', async (_what, changes, code) => {
    const { query } = await it.assistant()
    const answer = await it.authorize(given(query, changes))
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toMatch(/^https:\/\/assistant\.example\/callback\?/)
    expect(Object.fromEntries(queryOf(answer))).toMatchObject({ error: code, state: 'st&te=1', iss: origin })
  })
})

test('a parameter without a value counts as omitted', async () => {
  const { query } = await it.assistant()
  const empty = { state: '', resource: '', scope: '', response_mode: '', request: '', request_uri: '' }
  expect((await it.authorize(given(query, empty))).status).toBe(200)
  const refused = queryOf(await it.authorize(given(query, { ...empty, response_type: 'token' })))
  expect([refused.get('error'), refused.has('state')]).toEqual(['unsupported_response_type', false])
})

describe('the page', () => {
  test('runs no script and cannot be framed', async () => {
    const { query } = await it.assistant()
    const answer = await it.authorize(given(query))
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self' https:;")
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.text()).not.toMatch(/<script|<a /)
  })

  test('escapes the name of a client', async () => {
    const { client_id: clientId } = (await (
      await it.register({ client_name: '<img src=x onerror=alert(1)>\u202e"' })
    ).json()) as { client_id: string }
    const { query } = await it.assistant()
    const html = await (await it.authorize(given(query, { client_id: clientId }))).text()
    expect(html).toContain('&#60;img src=x')
    expect(html).not.toMatch(/<img|\u202e/)
  })

  test.each<[string, Record<string, string>]>([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a sibling', { origin, 'sec-fetch-site': 'same-site' }],
    ['a page without an origin', { origin: 'null' }],
    ['nobody knows', {}],
  ])('refuses a form of %s', async (_what, headers) => {
    const shop = await store(app)
    const who = await it.assistant()
    const request = await it.asked(who)
    const consent = await it.shown(who, shop.key)
    for (const [path, fields] of [
      ['authorize', { request, key: shop.key }],
      ['consent', { consent, decision: 'yes', 'platform:read': 'on' }],
    ] as const) {
      const answer = await it.form(`/oauth/${path}`, new URLSearchParams(fields as never), headers)
      expect([answer.status, answer.headers.get('location')]).toEqual([403, null])
    }
  })

  test('refuses a form that is unsealed or too old', async () => {
    const shop = await store(app)
    const who = await it.assistant()
    const [request, consent] = [await it.asked(who), await it.shown(who, shop.key)]
    const tries = async () => [
      (await it.ownForm('/oauth/authorize', { request, key: shop.key })).status,
      (await it.ownForm('/oauth/consent', { consent, decision: 'yes', 'platform:read': 'on' })).status,
    ]
    // One form does not replace the other, although the same key seals both.
    expect((await it.ownForm('/oauth/consent', { consent: request, decision: 'yes' })).status).toBe(400)
    expect((await it.ownForm('/oauth/authorize', { request: 'x.y', key: shop.key })).status).toBe(400)
    expect(await tries()).toEqual([200, 303])
    await app.advance(11 * 60_000)
    expect(await tries()).toEqual([200, 400])
    await app.advance(20 * 60_000)
    expect(await tries()).toEqual([400, 400])
  })

  test('redirects without a code after a refusal of the merchant', async () => {
    const shop = await store(app)
    const who = await it.assistant()
    const one = await it.ownForm('/oauth/authorize', { request: await it.asked(who), decision: 'no' })
    const two = await it.ownForm('/oauth/consent', { consent: await it.shown(who, shop.key), decision: 'no' })
    for (const answer of [one, two])
      expect(Object.fromEntries(queryOf(answer))).toEqual({
        error: 'access_denied',
        state: 'st&te=1',
        iss: origin,
      })
  })
})

describe('a document', () => {
  test('has only one canonical address', () => {
    expect(isDocumentAddress('https://claude.example/oauth/client.json')).toBe(true)
    for (const odd of [
      'https://claude.example',
      'https://claude.example/',
      'https://claude.example/a/../b.json',
      'https://CLAUDE.example/a.json',
      'https://user@claude.example/a.json',
      'https://claude.example/a.json#x',
      'http://claude.example/a.json',
    ])
      expect([odd, isDocumentAddress(odd)]).toEqual([odd, false])
  })

  test('is accepted only for its own address', async () => {
    const id = 'https://client.example/good.json'
    const json = 'application/json'
    const registered = { client_id: id, redirect_uris: [redirectUri] }
    const local = await serveDocuments({
      '/good.json': [200, json, { ...registered, client_name: 'Good' }],
      '/other.json': [200, json, registered],
      '/evil.json': [
        200,
        json,
        { client_id: 'https://client.example/evil.json', redirect_uris: ['javascript:1'] },
      ],
      '/secret.json': [
        200,
        json,
        { ...registered, client_id: 'https://client.example/secret.json', client_secret: 'x' },
      ],
      '/page.json': [200, 'text/html', '<p>'],
      '/large.json': [200, json, ' '.repeat(20_000)],
      '/broken.json': [200, json, '{'],
      '/gone.json': [404, json, '{}'],
    })
    const read = (path: string) =>
      readDocument(`https://client.example${path}`, { get: local, isPublic: isPublicAddress })
    expect(await read('/good.json')).toEqual({
      id,
      name: 'Good',
      redirectUris: [redirectUri],
      document: 'client.example',
    })
    for (const [path, wrong] of [
      ['/other.json', 'names another address'],
      ['/evil.json', 'redirect_uris.0'],
      ['/secret.json', 'client_secret'],
      ['/page.json', 'no JSON'],
      ['/large.json', 'more than 16 KiB'],
      ['/broken.json', 'not valid JSON'],
      ['/gone.json', 'answers 404'],
      ['/moved.json', 'leads on'],
    ] as const) {
      await expect(read(path)).rejects.toThrow(wrong)
    }
  })
})
