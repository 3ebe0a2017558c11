/** Grants of a key to an assistant, and their end. */
import { describe, expect, test } from 'vitest'
import { listKeys, revokeKey } from '#scripts/admin/keys'
import { type Shop, store } from '#test/support/store'
import { type Changes, errorOf, type Tokens, twoGateways } from './assistant.ts'

const { app, database, it, logged, other, shownKey, uses } = await twoGateways()

describe('the key', () => {
  const show = async (key: string, ip?: string) => {
    const who = await it.assistant()
    return it.ownForm('/oauth/authorize', { request: await it.asked(who), key }, ip)
  }

  test('is refused when it is wrong, has ended, or is an assistant’s, and is never on the page', async () => {
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
    const soon = await shownKey(shop, { expiresAt: new Date(app.clock.ms() + 1000) })
    await app.advance(1000)
    expect((await show(soon.key)).status).toBe(400)
  })

  test('is in no address, no log and no row', async () => {
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
      expect(logged.join('')).not.toContain(secret)
  })

  test('is not guessed: after ten tries an address has to wait', async () => {
    const shop = await store(app)
    for (let i = 0; i < 10; i += 1) expect((await show('mk_live_wrong', '7.7.7.7')).status).toBe(400)
    const refused = await show(shop.key, '7.7.7.7')
    expect(refused.status).toBe(429)
    expect(await refused.text()).toContain('Wait 10 minutes')
    expect((await show(shop.key, '7.7.7.8')).status).toBe(200)
  })

  test('grants no scope that it does not have or that was not requested', async () => {
    const shop = await store(app)
    const reader = await shop.key_(['platform:read'])
    const all = {
      'platform:read': 'on',
      'platform:write': 'on',
      'messages:send': 'on',
      'billing:write': 'on',
    }
    expect((await it.connect(reader, all)).tokens.scope).toBe('platform:read')
    // The key has all scopes, and the client requested two.
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
    ['another resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['another kind', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['an unknown one', { code: 'nonsense' }, 'invalid_grant'],
  ])('with %s is refused', async (_what, changes, error) => {
    const { who, code } = await codeFor(await store(app))
    expect(await errorOf(await it.exchange(who, code, changes))).toEqual([400, error])
  })

  test('with another client is refused, and an unknown client learns that it has to register', async () => {
    const { who, code } = await codeFor(await store(app))
    const { clientId } = await it.assistant()
    expect(await errorOf(await it.exchange(who, code, { client_id: clientId }))).toEqual([
      400,
      'invalid_grant',
    ])
    const unknown = { ...who, clientId: '01890000-0000-7000-8000-000000000000' }
    for (const answer of [
      await it.exchange(unknown, code),
      await it.refresh(unknown, 'a.b'),
      await it.revoke(unknown, 'a.b'),
    ]) {
      expect(await errorOf(answer)).toEqual([401, 'invalid_client'])
    }
  })

  test('is spent by a wrong verifier', async () => {
    const { who, code } = await codeFor(await store(app))
    await it.exchange(who, code, { code_verifier: 'x'.repeat(43) })
    expect(await errorOf(await it.exchange(who, code))).toEqual([400, 'invalid_grant'])
  })

  test('is exchanged without its address, which OAuth 2.1 omits, and never for more than was granted', async () => {
    const { who, code } = await codeFor(await store(app))
    const all = { scope: 'platform:read platform:write billing:write' }
    const answer = await it.exchange(who, code, { redirect_uri: null, ...all })
    const tokens = (await answer.json()) as Tokens
    expect([answer.status, tokens.scope]).toEqual([200, 'platform:read'])
    // Libraries repeat at each renewal the scopes they first requested.
    const renewed = (await (await it.refresh(who, tokens.refresh_token, all)).json()) as Tokens
    expect(renewed.scope).toBe('platform:read')
  })

  test('expires after a minute', async () => {
    const { who, code } = await codeFor(await store(app))
    await app.advance(60_000)
    expect(await errorOf(await it.exchange(who, code))).toEqual([400, 'invalid_grant'])
  })

  test('is valid once in ten concurrent requests, and a replay ends its grant on every gateway', async () => {
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

  test('is invalid once its parent key has ended', async () => {
    const shop = await store(app)
    const parent = await shownKey(shop)
    const who = await it.assistant()
    const code = (await it.consent(who, parent.key)).get('code')!
    await revokeKey(database, app.clock.now(), shop.id, parent.id)
    expect(await errorOf(await it.exchange(who, code))).toEqual([400, 'invalid_grant'])
  })
})

describe('a grant', () => {
  test('ends with its parent key, on every gateway at once', async () => {
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

  test('ends with a parent key that was ended directly in the database', async () => {
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

  test('ends no later than its parent key or its own expiry', async () => {
    const shop = await store(app)
    const expiresAt = new Date(app.clock.ms() + 1800_000)
    const parent = await shownKey(shop, { expiresAt })
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

  test('has an access token that expires after an hour, and at once when renewed', async () => {
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

  test('ends when a replaced refresh token is replayed, but not on a concurrent duplicate', async () => {
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

  test('is neither renewed nor ended by another client', async () => {
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

  test('is one of at most fifty per store, in addition to keys of the command line', async () => {
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
    await shownKey(shop)
    await app.advance(1000)
    expect((await it.exchange(who, code)).status).toBe(200)
    expect(await it.use(first.tokens.access_token)).toBe(200)
  })
})

test('the sweep deletes expired codes, grants and clients', async () => {
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
  // Registrations unused for eight days are gone.
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
