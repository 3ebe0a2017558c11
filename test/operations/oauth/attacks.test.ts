/** What must not work: each step that somebody else could take, or take twice. */
import { createServer, get } from 'node:http'
import type https from 'node:https'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { isDocumentAddress, readDocument } from '#operations/oauth/clients/document'
import { formTarget, isRegistered, wrongWithRedirect } from '#operations/oauth/clients/redirects'
import { isPublicAddress } from '#runtime/http/public-fetch'
import { createKey, listKeys, revokeKey } from '#scripts/admin/keys'
import { freshDatabase, testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { type Changes, given, hand, origin, queryOf, redirectUri } from './assistant.ts'

const { database } = await freshDatabase()
let logged = ''
const log = pino(
  { level: 'trace' },
  new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  }),
)
// Two gateways of one database, each with what it remembers of keys.
const app = await testApp({ publicUrl: origin }, { database, shared: true, log })
const other = hand(await testApp({ publicUrl: origin }, { database, shared: true, log, clock: app.clock }))
// Before the first of the two closes the database.
afterAll(() => app.gateway.keys.writeUses())
const it = hand(app)

const errorOf = async (answer: Response): Promise<[number, string]> => [
  answer.status,
  ((await answer.json()) as { error: string }).error,
]
/** The status of a token on both gateways. */
const uses = async (token: string) => [await it.use(token), await other.use(token)]
const shownKey = (shop: Shop) => createKey(database, app.clock.now(), keyOf(shop))
const keyOf = (shop: Shop) => ({
  storeId: shop.id,
  member: shop.email,
  scopes: ['platform:read', 'platform:write'],
})

describe('being turned away', () => {
  test('says where to find out how to get a key, and what was wrong with the one that came', async () => {
    const where = 'resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"'
    expect((await it.mcp(null)).headers.get('www-authenticate')).toBe(`Bearer ${where}`)
    const bad = await it.mcp('nonsense')
    expect(bad.status).toBe(401)
    expect(bad.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${where}`)
  })

  test('the documents name each other and the address that they are of', async () => {
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
  test('passes over what it does not know, and gives no secret', async () => {
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
  ])('%j is no address for answers', async (address) => {
    const answer = await it.register({ redirect_uris: [address] })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: expect.stringMatching(/^invalid_re/) })
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

describe('where answers go', () => {
  test('letter by letter, but for the port of a program on this machine', () => {
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

  test('schemes of programs are taken, those of browsers are not', () => {
    expect(wrongWithRedirect('cursor://anysphere.cursor/callback')).toBeNull()
    expect(wrongWithRedirect('com.example.app:/callback')).toBeNull()
    for (const scheme of ['file:///x', 'blob:https://a.example/1', 'ftp://a.example/', 'ws://a.example/'])
      expect([scheme, wrongWithRedirect(scheme)]).toEqual([scheme, expect.any(String)])
    expect(formTarget('cursor://x/y')).toBe('https: cursor:')
    expect(formTarget('http://127.0.0.1:8/y')).toBe('https: http://127.0.0.1:8')
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
  ])('%s: a page, and nobody is led on', async (_what, changes, told) => {
    const { query } = await it.assistant()
    const answer = await it.authorize(given(query, changes))
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect(await answer.text()).toContain(told)
  })

  test('a parameter that comes twice is a page', async () => {
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
  ])('%s: the client is told, with state and iss', async (_what, changes, code) => {
    const { query } = await it.assistant()
    const answer = await it.authorize(given(query, changes))
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toMatch(/^https:\/\/assistant\.example\/callback\?/)
    expect(Object.fromEntries(queryOf(answer))).toMatchObject({ error: code, state: 'st&te=1', iss: origin })
  })
})

describe('the page', () => {
  test('runs no script and is in no frame', async () => {
    const { query } = await it.assistant()
    const answer = await it.authorize(given(query))
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self' https:;")
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.text()).not.toMatch(/<script|<a /)
  })

  test('shows what a client calls itself as text', async () => {
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
  ])('takes no form of %s', async (_what, headers) => {
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

  test('takes no form that it has not sealed, and none that is too old', async () => {
    const shop = await store(app)
    const who = await it.assistant()
    const [request, consent] = [await it.asked(who), await it.shown(who, shop.key)]
    const tries = async () => [
      (await it.ownForm('/oauth/authorize', { request, key: shop.key })).status,
      (await it.ownForm('/oauth/consent', { consent, decision: 'yes', 'platform:read': 'on' })).status,
    ]
    // One is not the other, though both are sealed by the same key.
    expect((await it.ownForm('/oauth/consent', { consent: request, decision: 'yes' })).status).toBe(400)
    expect((await it.ownForm('/oauth/authorize', { request: 'x.y', key: shop.key })).status).toBe(400)
    expect(await tries()).toEqual([200, 303])
    await app.advance(11 * 60_000)
    expect(await tries()).toEqual([200, 400])
    await app.advance(20 * 60_000)
    expect(await tries()).toEqual([400, 400])
  })

  test('whoever declines is led back without a code', async () => {
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

describe('the key', () => {
  const show = async (key: string, ip?: string) => {
    const who = await it.assistant()
    return it.ownForm('/oauth/authorize', { request: await it.asked(who), key }, ip)
  }

  test('is none that is wrong, has ended, or is an assistant’s; the page never has it', async () => {
    const shop = await store(app)
    const ended = await shownKey(shop)
    await revokeKey(database, app.clock.now(), shop.id, ended.id)
    const { tokens } = await it.connect(shop.key)
    for (const key of ['', 'x', `mk_live_${'0'.repeat(43)}`, ended.key, tokens.access_token]) {
      const answer = await show(key)
      expect([key.slice(0, 9), answer.status]).toEqual([key.slice(0, 9), 400])
      const html = await answer.text()
      expect(html).toContain('role="alert"')
      if (key.length > 9) expect(html).not.toContain(key)
    }
    const good = await show(shop.key)
    expect(good.status).toBe(200)
    expect(await good.text()).not.toContain(shop.key)
    const soon = await createKey(database, app.clock.now(), {
      ...keyOf(shop),
      expiresAt: new Date(app.clock.ms() + 1000),
    })
    await app.advance(1000)
    expect((await show(soon.key)).status).toBe(400)
  })

  test('stands in no address, no log and no row', async () => {
    const shop = await store(app)
    const who = await it.assistant()
    const query = await it.consent(who, shop.key)
    expect(String(query)).not.toContain(shop.key)
    const { tokens } = await it.connect(shop.key)
    for (const table of ['api_keys', 'oauth_codes', 'oauth_grants']) {
      const rows = await database.query<{ row: string }>(`select t::text as row from ${table} t`, [])
      const text = rows.map(({ row }) => row).join('\n')
      expect(text.length).toBeGreaterThan(0)
      for (const secret of [shop.key, query.get('code')!, tokens.access_token, tokens.refresh_token])
        expect(text).not.toContain(secret)
    }
    for (const secret of [shop.key, query.get('code')!, tokens.access_token, tokens.refresh_token])
      expect(logged).not.toContain(secret)
  })

  test('is not guessed: ten tries of an address, and it waits', async () => {
    const shop = await store(app)
    for (let i = 0; i < 10; i += 1) expect((await show('mk_live_wrong', '7.7.7.7')).status).toBe(400)
    const refused = await show(shop.key, '7.7.7.7')
    expect(refused.status).toBe(429)
    expect(await refused.text()).toContain('Wait 10 minutes')
    expect((await show(shop.key, '7.7.7.8')).status).toBe(200)
  })

  test('passes on no scope that it does not have, or that nobody asked for', async () => {
    const shop = await store(app)
    const reader = await shop.key_(['platform:read'])
    const all = {
      'platform:read': 'on',
      'platform:write': 'on',
      'messages:send': 'on',
      'billing:write': 'on',
    }
    expect((await it.connect(reader, all)).tokens.scope).toBe('platform:read')
    // The key has all, and the client asked for two.
    expect((await it.connect(shop.key, all)).tokens.scope).toBe('platform:read platform:write')
    const who = await it.assistant()
    const none = await it.ownForm('/oauth/authorize', {
      request: await it.asked(who, { scope: 'platform:write billing:write' }),
      key: reader,
    })
    expect(none.status).toBe(400)
    const html = await (
      await it.ownForm('/oauth/authorize', { request: await it.asked(who), key: reader })
    ).text()
    expect(html).toContain('platform:read')
    expect(html).not.toContain('platform:write')
  })

  test('of another store opens that one, and nothing else', async () => {
    const [mine, theirs] = [await store(app), await store(app)]
    const { tokens } = await it.connect(mine.key)
    const read = (shop: Shop, key: string) => shop.request('GET', '/store', { key })
    expect((await read(mine, tokens.access_token)).body.id).toBe(mine.id)
    expect((await read(theirs, tokens.access_token)).body.id).toBe(mine.id)
    expect((await listKeys(database, theirs.id)).some(({ parentId }) => parentId)).toBe(false)
  })

  test('the scopes that were granted hold below /v1', async () => {
    const shop = await store(app)
    const { tokens } = await it.connect(shop.key)
    const call = (method: string) =>
      shop.request(method, '/store', {
        key: tokens.access_token,
        ...(method === 'PATCH' ? { body: { name: 'Other' } } : {}),
      })
    expect((await call('GET')).status).toBe(200)
    expect((await call('PATCH')).status).toBe(403)
  })
})

describe('a code', () => {
  const codeFor = async (shop: Shop) => {
    const who = await it.assistant()
    return { who, code: (await it.consent(who, shop.key)).get('code')! }
  }

  test.each<[string, Changes, string]>([
    ['another verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['no verifier', { code_verifier: null }, 'invalid_request'],
    ['another address', { redirect_uri: 'https://assistant.example/other' }, 'invalid_grant'],
    ['another client', { client_id: '01890000-0000-7000-8000-000000000000' }, 'invalid_grant'],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['another kind', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['an unknown one', { code: 'nonsense' }, 'invalid_grant'],
  ])('with %s gives nothing', async (_what, changes, error) => {
    const { who, code } = await codeFor(await store(app))
    expect(await errorOf(await it.exchange(who, code, changes))).toEqual([400, error])
  })

  test('is spent by a wrong verifier', async () => {
    const { who, code } = await codeFor(await store(app))
    await it.exchange(who, code, { code_verifier: 'x'.repeat(43) })
    expect(await errorOf(await it.exchange(who, code))).toEqual([400, 'invalid_grant'])
  })

  test('is too old after a minute', async () => {
    const { who, code } = await codeFor(await store(app))
    await app.advance(60_000)
    expect(await errorOf(await it.exchange(who, code))).toEqual([400, 'invalid_grant'])
  })

  test('that comes again ends what was made of it, on every gateway; of ten at once one is answered', async () => {
    const shop = await store(app)
    const { who, code, tokens } = await it.connect(shop.key)
    expect(await uses(tokens.access_token)).toEqual([200, 200])
    expect(await errorOf(await other.exchange(who, code))).toEqual([400, 'invalid_grant'])
    expect(await uses(tokens.access_token)).toEqual([401, 401])
    expect(await errorOf(await it.refresh(who, tokens.refresh_token))).toEqual([400, 'invalid_grant'])

    const next = await codeFor(shop)
    const answers = await Promise.all(Array.from({ length: 10 }, () => it.exchange(next.who, next.code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('is worth nothing once the key that granted it has ended', async () => {
    const shop = await store(app)
    const parent = await shownKey(shop)
    const who = await it.assistant()
    const code = (await it.consent(who, parent.key)).get('code')!
    await revokeKey(database, app.clock.now(), shop.id, parent.id)
    expect(await errorOf(await it.exchange(who, code))).toEqual([400, 'invalid_grant'])
  })
})

describe('a grant', () => {
  test('ends with the key above it, on every gateway at once', async () => {
    const shop = await store(app)
    const parent = await shownKey(shop)
    const { who, tokens } = await it.connect(parent.key)
    expect(await uses(tokens.access_token)).toEqual([200, 200])
    await revokeKey(database, app.clock.now(), shop.id, parent.id)
    await app.services.accessChanged(shop.id)
    expect(await uses(tokens.access_token)).toEqual([401, 401])
    expect(await errorOf(await it.refresh(who, tokens.refresh_token))).toEqual([400, 'invalid_grant'])
    const child = (await listKeys(database, shop.id)).find(({ parentId }) => parentId === parent.id)
    expect(child!.revokedAt).not.toBeNull()
  })

  test('ends with a key above it that was ended past our commands', async () => {
    const shop = await store(app)
    const parent = await shownKey(shop)
    const { tokens } = await it.connect(parent.key)
    await database.root
      .updateTable('api_keys')
      .set({ revoked_at: app.clock.now() })
      .where('id', '=', parent.id)
      .execute()
    await app.services.accessChanged(shop.id)
    expect(await uses(tokens.access_token)).toEqual([401, 401])
  })

  test('ends no later than the key above it, nor than its own term', async () => {
    const shop = await store(app)
    const expiresAt = new Date(app.clock.ms() + 1800_000)
    const parent = await createKey(database, app.clock.now(), { ...keyOf(shop), expiresAt })
    const { who, tokens } = await it.connect(parent.key)
    expect(tokens.expires_in).toBe(1800)
    await app.setClock(new Date(expiresAt.getTime() - 1))
    expect(await uses(tokens.access_token)).toEqual([200, 200])
    await app.setClock(expiresAt)
    expect(await uses(tokens.access_token)).toEqual([401, 401])
    expect(await errorOf(await it.refresh(who, tokens.refresh_token))).toEqual([400, 'invalid_grant'])

    const long = await it.connect(shop.key)
    await app.advance(30 * 24 * 3600_000)
    expect(await errorOf(await it.refresh(long.who, long.tokens.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ])
  })

  test('ends with its member', async () => {
    const shop = await store(app)
    const person = await shop.person('member')
    const { tokens } = await it.connect(person.key)
    expect(await it.use(tokens.access_token)).toBe(200)
    expect((await shop.request('DELETE', `/stores/team/members/${person.userId}`)).status).toBeLessThan(300)
    expect(await uses(tokens.access_token)).toEqual([401, 401])
  })

  test('is revoked alone, by its id, as any key', async () => {
    const shop = await store(app)
    const { tokens } = await it.connect(shop.key)
    const child = (await listKeys(database, shop.id)).find(({ parentId }) => parentId)!
    await revokeKey(database, app.clock.now(), shop.id, child.id)
    await app.services.accessChanged(shop.id)
    expect(await uses(tokens.access_token)).toEqual([401, 401])
    expect(await it.use(shop.key)).toBe(200)
  })

  test('an access token is over after an hour, and at once when it is renewed', async () => {
    const shop = await store(app)
    const { who, tokens } = await it.connect(shop.key)
    await app.advance(3600_000)
    expect(await it.use(tokens.access_token)).toBe(401)
    const renewed = (await (await it.refresh(who, tokens.refresh_token)).json()) as typeof tokens
    expect(renewed.scope).toBe('platform:read')
    expect(await uses(renewed.access_token)).toEqual([200, 200])
    const again = (await (await it.refresh(who, renewed.refresh_token)).json()) as typeof tokens
    await app.services.accessChanged(shop.id)
    expect(await uses(renewed.access_token)).toEqual([401, 401])
    expect(await uses(again.access_token)).toEqual([200, 200])
  })

  test('a refresh token of before ends it; twice at once is refused alone', async () => {
    const shop = await store(app)
    const { who, tokens } = await it.connect(shop.key)
    const both = await Promise.all([
      it.refresh(who, tokens.refresh_token),
      other.refresh(who, tokens.refresh_token),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
    const good = (await both.find(({ status }) => status === 200)!.json()) as typeof tokens
    expect(await uses(good.access_token)).toEqual([200, 200])
    await app.advance(31_000)
    expect(await errorOf(await it.refresh(who, tokens.refresh_token))).toEqual([400, 'invalid_grant'])
    expect(await uses(good.access_token)).toEqual([401, 401])
    expect(await errorOf(await it.refresh(who, good.refresh_token))).toEqual([400, 'invalid_grant'])
  })

  test('is nothing to another client: neither renewed nor ended by it', async () => {
    const shop = await store(app)
    const { who, tokens } = await it.connect(shop.key)
    const stranger = await it.assistant()
    await app.advance(31_000)
    expect(await errorOf(await it.refresh(stranger, tokens.refresh_token))).toEqual([400, 'invalid_grant'])
    for (const token of [tokens.refresh_token, tokens.access_token, shop.key, 'nonsense'])
      expect((await it.revoke(stranger, token)).status).toBe(200)
    expect((await it.revoke(who, shop.key)).status).toBe(200)
    expect(await uses(tokens.access_token)).toEqual([200, 200])
    expect(await it.use(shop.key)).toBe(200)
    expect((await it.revoke(who, tokens.access_token)).status).toBe(200)
    expect(await uses(tokens.access_token)).toEqual([401, 401])
  })

  test('there are fifty of a store, beside the keys of the command line', async () => {
    const shop = await store(app)
    const { code: _code, ...first } = await it.connect(shop.key)
    const parent = (await listKeys(database, shop.id)).find(({ parentId }) => !parentId)!
    const [row] = await database.root.selectFrom('api_keys').selectAll().where('id', '=', parent.id).execute()
    await database.root
      .insertInto('api_keys')
      .values(
        Array.from({ length: 49 }, (_, i) => ({
          ...row!,
          id: `01890000-0000-7000-8000-${String(i).padStart(12, '0')}`,
          hash: `${shop.id}-${i}`,
          parent_id: parent.id,
          expires_at: new Date(app.clock.ms() + 1000),
        })),
      )
      .execute()
    const who = await it.assistant()
    const code = (await it.consent(who, shop.key)).get('code')!
    const refused = await it.exchange(who, code)
    expect(refused.status).toBe(409)
    expect(await refused.json()).toMatchObject({ error_description: expect.stringContaining('50') })
    await createKey(database, app.clock.now(), keyOf(shop))
    await app.advance(1000)
    expect((await it.exchange(who, code)).status).toBe(200)
    expect(await it.use(first.tokens.access_token)).toBe(200)
  })
})

describe('a document', () => {
  test('has one way to be written', () => {
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

  test('is taken for what its address says, and nothing else', async () => {
    const id = 'https://client.example/good.json'
    const documents: Record<string, [number, string, string]> = {
      '/good.json': [
        200,
        'application/json',
        JSON.stringify({ client_id: id, client_name: 'Good', redirect_uris: [redirectUri] }),
      ],
      '/other.json': [
        200,
        'application/json',
        JSON.stringify({ client_id: id, redirect_uris: [redirectUri] }),
      ],
      '/evil.json': [
        200,
        'application/json',
        JSON.stringify({ client_id: 'https://client.example/evil.json', redirect_uris: ['javascript:1'] }),
      ],
      '/secret.json': [
        200,
        'application/json',
        JSON.stringify({
          client_id: 'https://client.example/secret.json',
          redirect_uris: [redirectUri],
          client_secret: 'x',
        }),
      ],
      '/page.json': [200, 'text/html', '<p>'],
      '/large.json': [200, 'application/json', ' '.repeat(20_000)],
      '/broken.json': [200, 'application/json', '{'],
      '/gone.json': [404, 'application/json', '{}'],
    }
    const server = createServer((request, response) => {
      const [status, type, body] = documents[request.url!] ?? [302, 'text/plain', '']
      const location = status === 302 ? { location: 'https://client.example/good.json' } : {}
      response.writeHead(status, { 'content-type': type, ...location }).end(body)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    // The client's server, in the place of the internet.
    const local = ((url: URL, options: object, answer: never) =>
      get(`http://127.0.0.1:${port}${url.pathname}`, options, answer)) as unknown as typeof https.get
    const read = (path: string) =>
      readDocument(`https://client.example${path}`, { get: local, isPublic: isPublicAddress })
    try {
      expect(await read('/good.json')).toEqual({
        id,
        name: 'Good',
        redirectUris: [redirectUri],
        document: 'client.example',
      })
      await expect(read('/other.json')).rejects.toThrow('names another address')
      await expect(read('/evil.json')).rejects.toThrow('redirect_uris.0')
      await expect(read('/secret.json')).rejects.toThrow('client_secret')
      await expect(read('/page.json')).rejects.toThrow('no JSON')
      await expect(read('/large.json')).rejects.toThrow('more than 16 KiB')
      await expect(read('/broken.json')).rejects.toThrow('not valid JSON')
      await expect(read('/gone.json')).rejects.toThrow('answers 404')
      await expect(read('/moved.json')).rejects.toThrow('leads on')
    } finally {
      server.close()
    }
  })
})

test('what is over is swept, what is not stays', async () => {
  const shop = await store(app)
  const { who, tokens } = await it.connect(shop.key)
  await it.register({ client_name: 'never used' })
  const rows = async () =>
    Promise.all(
      (['oauth_codes', 'oauth_grants', 'oauth_clients'] as const).map(async (table) => {
        const [row] = await database.query<{ n: number }>(`select count(*)::int as n from ${table}`, [])
        return row!.n
      }),
    )
  const children = async () => (await listKeys(database, shop.id)).filter(({ parentId }) => parentId).length
  const later = async (days: number) => {
    await app.advance(days * 24 * 3600_000)
    await app.drainJobs()
  }
  await later(8)
  // Registrations of eight days ago that led to nothing are gone.
  const [codes, grants, clients] = await rows()
  expect([codes, await children()]).toEqual([0, 1])
  expect(grants).toBeGreaterThan(0)
  expect(clients).toBeGreaterThan(0)
  expect((await it.refresh(who, tokens.refresh_token)).status).toBe(200)
  await later(31)
  expect((await rows())[1]).toBe(0)
  expect(await children()).toBe(1)
  await later(100)
  expect(await children()).toBe(0)
  await later(400)
  expect(await rows()).toEqual([0, 0, 0])
})
