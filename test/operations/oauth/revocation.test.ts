/** An ended grant stays ended under any concurrent calls; and odd clients cannot affect others. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findRedirectIssue } from '#operations/oauth/clients/redirects'
import { listKeys, revokeKey } from '#scripts/admin/keys'
import { store } from '#test/support/store'
import { runs } from '#test/support/suite'
import { given, origin, queryOf, type Tokens, twoGateways } from './assistant.ts'

const { app, database, it, logged, other, shownKey } = await twoGateways('warn')

/** Actions on any current or former token. */
const step = fc.tuple(fc.constantFrom('refresh', 'revoke', 'revoke-access', 'wait'), fc.nat(5), fc.boolean())

test('nothing of a grant works once its revocation was answered, under any concurrent calls', async () => {
  const shop = await store(app)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), fc.boolean(), async (steps, atOnce) => {
      const { who, tokens } = await it.connect(shop.key)
      const [refreshes, accesses] = [[tokens.refresh_token], [tokens.access_token]]
      let isEnded = false
      const act = async ([kind, which, isElsewhere]: [string, number, boolean]): Promise<void> => {
        const by = isElsewhere ? other : it
        const of = (all: string[]): string => all[which % all.length]!
        if (kind === 'wait') app.clock.advance(20_000)
        else if (kind === 'refresh') {
          const answer = await by.refresh(who, of(refreshes))
          expect([200, 400]).toContain(answer.status)
          if (answer.status !== 200) return
          const next = (await answer.json()) as Tokens
          refreshes.push(next.refresh_token)
          accesses.push(next.access_token)
        } else {
          const token = kind === 'revoke' ? of(refreshes) : accesses.at(-1)!
          expect((await by.revoke(who, token)).status).toBe(200)
          // A replaced token belongs to nobody.
          if (kind === 'revoke') isEnded = true
        }
      }
      if (atOnce) await Promise.all(steps.map(act))
      else for (const each of steps) await act(each)
      if (!isEnded) await it.revoke(who, refreshes[0]!)
      await app.services.accessChanged(shop.id)
      for (const access of accesses)
        expect([await it.use(access), await other.use(access)]).toEqual([401, 401])
      for (const each of refreshes) expect((await it.refresh(who, each)).status).toBe(400)
    }),
    runs(25),
  )
})

test('an interrupted revocation is completed when it is requested again', async () => {
  const shop = await store(app)
  const { who, tokens } = await it.connect(shop.key)
  await database.script(`create function fails() returns trigger as $$ begin raise exception 'down'; end $$ language plpgsql;
    create trigger fails before delete on oauth_grants for each row execute function fails();`)
  try {
    expect((await it.revoke(who, tokens.refresh_token)).status).toBe(503)
  } finally {
    await database.script('drop trigger fails on oauth_grants; drop function fails();')
  }
  expect((await it.revoke(who, tokens.refresh_token)).status).toBe(200)
  expect(await it.use(tokens.access_token)).toBe(401)
  expect((await it.refresh(who, tokens.refresh_token)).status).toBe(400)
})

test('a child key created while its parent is revoked is revoked too, and listed so', async () => {
  const shop = await store(app)
  for (let round = 0; round < 8; round += 1) {
    const parent = await shownKey(shop)
    const who = await it.assistant()
    const code = (await it.consent(who, parent.key)).get('code')!
    await Promise.all([it.exchange(who, code), revokeKey(database, app.clock.now(), shop.id, parent.id)])
    const children = (await listKeys(database, shop.id)).filter(({ parentId }) => parentId === parent.id)
    expect(children.filter(({ revokedAt }) => revokedAt === null)).toEqual([])
  }
})

test.each([
  'http://127.0.0.1/c%0Ab',
  'http://127.0.0.1/c\nb',
  ' http://127.0.0.1/cb',
  'http://127.0.0.1/cb\t',
  'http:127.0.0.1/cb',
  'http:\\\\127.0.0.1\\cb',
  'http://127.0.0.1/中',
  'http://１27.0.0.1/cb',
])('a loopback address is accepted exactly as written or not at all: %j', async (address) => {
  logged.length = 0
  const paths = ['http://127.0.0.1/cb', 'http://127.0.0.1/%E4%B8%AD', 'http://127.0.0.1/c']
  const { client_id } = (await (await it.register({ redirect_uris: paths })).json()) as { client_id: string }
  const { query } = await it.assistant()
  const changes = { client_id, redirect_uri: address, response_type: 'token' }
  const answer = await it.authorize(given(query, changes))
  expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  expect(logged).toEqual([])
})

test('an address without two slashes before its host is refused', () => {
  for (const address of ['https:evil.example/cb', 'https:///x', 'https:\\\\x', 'https:/x', 'HTTPS:x']) {
    expect([address, findRedirectIssue(address)]).toEqual([address, 'must have two slashes before its host'])
  }
})

test('a scope that needs another is neither offered nor requested without it', async () => {
  const shop = await store(app)
  const who = await it.assistant()
  const alone = await it.authorize(given(who.query, { scope: 'messages:send' }))
  expect(queryOf(alone).get('error')).toBe('invalid_scope')
  const request = await it.asked(who, { scope: 'platform:read messages:send' })
  const page = await (await it.ownForm('/oauth/authorize', { request, key: shop.key })).text()
  expect(page).toContain('name="platform:read"')
  expect(page).not.toContain('name="messages:send"')
})

test('a parameter that is given twice is refused by name', async () => {
  const { who, tokens } = await it.connect((await store(app)).key)
  const fields = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: who.clientId,
    refresh_token: tokens.refresh_token,
    resource: 'https://elsewhere.example/mcp',
  })
  fields.append('resource', `${origin}/mcp`)
  const answer = await it.form('/oauth/token', fields)
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { error: 'invalid_request', error_description: 'resource: must be given once' },
  ])
})

test('a client’s name is truncated to whole visible characters', async () => {
  const named = async (client_name: string): Promise<string> =>
    ((await (await it.register({ client_name })).json()) as { client_name: string }).client_name
  expect(await named(`${'a'.repeat(79)}😀b`)).toBe(`${'a'.repeat(79)}😀`)
  for (const unseen of ['\u3164', '\u2800', '\u115f', '\u202e'])
    expect(await named(unseen)).toBe('assistant.example')
  expect(await named('Hel\u202eper')).toBe('Helper')
})

test('a rate-limited merchant sees a page', async () => {
  const { query } = await it.assistant()
  const ip = '203.0.113.9'
  let last = await it.authorize(given(query), ip)
  for (let i = 0; i < 60; i += 1) last = await it.authorize(given(query), ip)
  expect([last.status, last.headers.get('content-type')]).toEqual([429, expect.stringMatching(/^text\/html/)])
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
})
