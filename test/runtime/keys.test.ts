/** Keys are revoked on all instances at once: two gateways on one database, each with its cache. */
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import { KeyRing } from '#runtime/gateway/keys'
import { sha256 } from '#runtime/values/ids'
import { freshDatabase, testApp } from '#test/support/app'
import { store } from '#test/support/store'

const { database } = await freshDatabase()
// `shared`: as on a PostgreSQL server, where another instance may use its cache.
const one = await testApp({}, { database, shared: true })
const other = await testApp({}, { database, shared: true })

const revoke = (key: string) =>
  sql`update api_keys set revoked_at = ${one.clock.now()}, revoked_reason = 'revoked' where hash = ${sha256(key)}`.execute(
    database.root,
  )

describe('a key', () => {
  test('is revoked on every instance once the change is answered', async () => {
    const shop = await store(one)
    for (let round = 0; round < 5; round += 1) {
      const key = await shop.key_(['platform:read'])
      const use = (app: typeof one) =>
        app.fetch(
          new Request('http://localhost/v1/campaigns/opt-outs', {
            headers: { authorization: `Bearer ${key}` },
          }),
          {
            ip: '127.0.0.1',
          },
        )
      expect([(await use(one)).status, (await use(other)).status]).toEqual([200, 200])
      const busy = Promise.all(Array.from({ length: 20 }, () => use(other)))
      await revoke(key)
      await one.services.accessChanged(shop.id)
      expect([(await use(one)).status, (await use(other)).status]).toEqual([401, 401])
      await busy
    }
  })

  test('a frequently used key makes nobody wait: its lease is renewed in advance', async () => {
    const shop = await store(one)
    let asked = 0
    const counted = Object.create(database, {
      query: {
        value(...given: Parameters<typeof database.query>) {
          asked += 1
          return database.query(...given)
        },
      },
    })
    const keys = new KeyRing(counted, one.clock, 10_000, false)
    const find = () => keys.find(shop.key, one.clock.ms())
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await find()).toMatchObject({ storeId: shop.id })
    vi.advanceTimersByTime(1000)
    expect([find(), asked]).toMatchObject([{ storeId: shop.id }, 1])
    await revoke(shop.key)
    vi.advanceTimersByTime(4000)
    // Half of the lease is over: still cached, and requested once.
    expect([find(), find()]).toMatchObject([{ storeId: shop.id }, { storeId: shop.id }])
    await expect.poll(find).toBe(null)
    expect(asked).toBe(2)
    vi.advanceTimersByTime(10_000)
    // After its end the request waits.
    expect(find()).toBeInstanceOf(Promise)
  })

  test.each([null, '', 'mk_live_short', `mk_live_${'0'.repeat(43)}`, 'Bearer', '💥'])(
    '%s is none',
    async (key) => {
      const shop = await store(one)
      const answer = await shop.request('GET', '/campaigns/opt-outs', {
        key: null,
        headers: key === null ? {} : { authorization: `Bearer ${encodeURI(key)}` },
      })
      expect(answer.status).toBe(401)
      expect(answer.body.error.message).toBe(
        'The API key is missing, invalid, expired or revoked: send Authorization: Bearer <key>',
      )
    },
  )

  test('a failed write of the last use is repeated the next time', async () => {
    const shop = await store(one)
    await shop.call(listOptOuts)
    const away = vi.spyOn(one.services.database.root, 'getExecutor').mockImplementation(() => {
      throw new Error('the database is away')
    })
    await expect(one.gateway.keys.flushUses()).rejects.toThrow('away')
    away.mockRestore()
    await one.gateway.keys.flushUses()
    const [used] = await database.query<{ last_used_at: Date | null }>(
      'select last_used_at from api_keys where hash = $1',
      [sha256(shop.key)],
    )
    expect(used!.last_used_at).toBeInstanceOf(Date)
  })
})
