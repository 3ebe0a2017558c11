/** Creating, listing and revoking API keys. */
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { allScopes } from '#runtime/roles'
import { newId, sha256 } from '#runtime/values/ids'
import { createKey, listKeys, revokeKey } from '#scripts/admin/keys'
import { freshDatabase, testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

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
const app = await testApp({}, { database, shared: true, log })
const other = await testApp({}, { database, shared: true, log })
// Before the first of the two closes the database.
afterAll(() => app.gateway.keys.flushUses())

const make = (shop: Shop, options: Partial<Parameters<typeof createKey>[2]> = {}) =>
  createKey(database, app.clock.now(), {
    storeId: shop.id,
    member: shop.email,
    scopes: ['platform:read'],
    ...options,
  })
const use = async (key: string, on = app) =>
  (await on.fetch(new Request('http://localhost/v1/store', { headers: { authorization: `Bearer ${key}` } })))
    .status

describe('creating a key', () => {
  test('returns the key once, and stores only a hash and a prefix', async () => {
    const shop = await store(app)
    const made = await make(shop, {
      member: ` ${shop.email.toUpperCase()}`,
      scopes: allScopes,
      environment: 'test',
    })
    expect(made).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^mk_test_[0-9A-Za-z]{43}$/),
      prefix: made.key.slice(0, 12),
      scopes: [...allScopes],
      expiresAt: null,
    })
    expect(await use(made.key)).toBe(200)
    const [row] = await database.query<{ hash: string; row: string }>(
      'select hash, k::text as row from api_keys k where id = $1',
      [made.id],
    )
    expect(row!.hash).toBe(sha256(made.key))
    expect(row!.row).not.toContain(made.key)
  })

  test.each([
    [{ member: 'stranger@example.com' }, 'is not a member'],
    [{ scopes: [] }, 'name at least one'],
    [{ scopes: ['platform:read', 'everything'] }, 'everything is unknown'],
    [{ scopes: ['billing:write'] }, 'billing:write needs platform:write'],
    [{ scopes: ['platform:read', 'messages:send'] }, 'messages:send needs platform:write'],
    [{ name: ' ' }, 'name: must have 1 to 80'],
    [{ name: 'x'.repeat(81) }, 'name: must have 1 to 80'],
    [{ expiresAt: new Date(0) }, 'expires: is in the past'],
  ])('%j is refused', async (options, message) => {
    await expect(make(await store(app), options)).rejects.toThrow(message)
  })

  test('is refused for a removed member', async () => {
    const shop = await store(app)
    const marco = await shop.person('member')
    await shop.request('DELETE', `/stores/team/members/${marco.userId}`)
    await expect(make(shop, { member: marco.email })).rejects.toThrow('is not a member')
  })

  test('is limited to twenty active keys, also with concurrent requests', async () => {
    const shop = await store(app)
    await app.setClock('2026-11-20T12:00:00.000Z')
    const expiresAt = new Date('2026-11-21T12:00:00.000Z')
    const first = await make(shop, { expiresAt })
    const second = await make(shop)
    for (let made = 3; made < 19; made += 1) await make(shop)
    const last = await Promise.allSettled([make(shop), make(shop)])
    expect(last.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(make(shop)).rejects.toThrow('20 active keys')
    await revokeKey(database, app.clock.now(), shop.id, second.id)
    await make(shop)
    await expect(make(shop)).rejects.toThrow('20 active keys')
    await app.setClock(expiresAt)
    expect(await use(first.key)).toBe(401)
    await make(shop)
  })
})

describe('a key', () => {
  test('works until the millisecond before its expiry', async () => {
    const shop = await store(app)
    const expiresAt = new Date('2027-01-01T00:00:00.000Z')
    await app.setClock('2026-12-01T00:00:00.000Z')
    const { key } = await make(shop, { expiresAt })
    await app.setClock(new Date(expiresAt.getTime() - 1))
    expect(await use(key)).toBe(200)
    await app.setClock(expiresAt)
    expect(await use(key)).toBe(401)
  })

  test('is refused on every instance once it is revoked', async () => {
    const shop = await store(app)
    const { id, key } = await make(shop)
    expect([await use(key), await use(key, other)]).toEqual([200, 200])
    const revoked = await revokeKey(database, app.clock.now(), shop.id, id)
    await app.services.accessChanged(shop.id)
    expect([await use(key), await use(key, other)]).toEqual([401, 401])
    await app.advance(1000)
    expect(await revokeKey(database, app.clock.now(), shop.id, id)).toEqual(revoked)
  })

  test('is not revoked through another store or by an unknown id', async () => {
    const shop = await store(app)
    const { id, key } = await make(shop)
    const borealis = await store(app)
    for (const [storeId, wrong] of [
      [borealis.id, id],
      [shop.id, newId(1)],
      [shop.id, 'none'],
    ] as const) {
      await expect(revokeKey(database, app.clock.now(), storeId, wrong)).rejects.toThrow('has no key')
    }
    expect(await use(key)).toBe(200)
  })
})

test('the list shows every key, newest first, with neither hash nor secret', async () => {
  const shop = await store(app)
  const old = await make(shop, { name: 'Old' })
  const fresh = await make(shop, { name: 'Fresh', expiresAt: new Date('2999-01-01T00:00:00.000Z') })
  const { revokedAt } = await revokeKey(database, app.clock.now(), shop.id, old.id)
  const keys = await listKeys(database, shop.id)
  expect(keys.map((each) => each.name)).toEqual(['Fresh', 'Old', 'API key'])
  expect(keys[0]).toEqual({
    id: fresh.id,
    prefix: fresh.prefix,
    name: 'Fresh',
    scopes: ['platform:read'],
    member: shop.email,
    expiresAt: '2999-01-01T00:00:00.000Z',
    revokedAt: null,
    lastUsedAt: null,
  })
  expect(keys[1]!.revokedAt).toBe(revokedAt)
  const text = JSON.stringify(keys)
  for (const secret of [fresh.key, sha256(fresh.key), old.key, sha256(old.key)])
    expect(text).not.toContain(secret)
})

test('keys and hashes are never logged or stored outside their own row', async () => {
  const shop = await store(app)
  await shop.request('GET', '/store')
  await shop.request('GET', '/stores/team')
  await shop.request('PATCH', '/store', { body: { name: 'X' }, headers: { 'idempotency-key': 'one' } })
  await shop.request('PATCH', '/store', { body: { timezone: 'Mars/Base' } })
  await shop.request('GET', `/nowhere?key=1`)
  await app.fetch(
    new Request('http://localhost/v1/store', { headers: { authorization: `Bearer ${shop.key}x` } }),
  )
  expect(logged).toContain(shop.id)
  for (const secret of [shop.key, sha256(shop.key)]) expect(logged).not.toContain(secret)
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema in ('public', 'pgboss')`,
    [],
  )
  expect(tables.length).toBeGreaterThan(30)
  for (const { name } of tables) {
    const held = await database.query(`select 1 from ${name} t where strpos(t::text, $1) > 0`, [shop.key])
    expect([name, held]).toEqual([name, []])
  }
})
