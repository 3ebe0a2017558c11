import { describe, expect, test } from 'vitest'
import endSession from '#operations/messaging/qr/api/end-session'
import getSession from '#operations/messaging/qr/api/get-session'
import startSession from '#operations/messaging/qr/api/start-session'
import getStore from '#operations/store/profile/api/get-store'
import { testApp } from '#test/support/app'
import { newPhone as aPhone, getPath, type NumberShop, numberShop, post, scan } from '#test/support/numbers'
import type { Shop } from '#test/support/store'

/** Notifications of connected numbers, by store. */
const connected: { storeId: string; type: string }[] = []
const app = await testApp(
  {},
  { extensions: { numberConnected: [async (ctx, type) => connected.push({ storeId: ctx.store.id, type })] } },
)
const start = Date.parse('2026-11-20T12:00:00.000Z')
await app.setClock(new Date(start))

const at = (ms: number) => app.setClock(new Date(app.clock.ms() + ms))
const session = async (shop: Shop, key = shop.key) => (await shop.call(getSession, { key })).body
const typeOf = async (shop: NumberShop) => (await shop.call(getStore)).body.settings.messagingConnectionType

describe('a session by QR code', () => {
  test('codes follow the clock, and the last one ends the session', async () => {
    const shop = await numberShop(app)
    expect(await session(shop)).toMatchObject({
      type: null,
      connected: false,
      issue: null,
      qr: { status: 'none', code: null },
    })
    const started = app.clock.ms()
    const { status, body } = await shop.call(startSession)
    expect(status).toBe(201)
    expect(body.qr).toMatchObject({
      status: 'awaiting-scan',
      startedAt: new Date(started).toISOString(),
      endReason: null,
      code: { sequence: 1, expiresAt: new Date(started + 60_000).toISOString(), refreshesLeft: 5 },
    })
    await at(59_999)
    const one = (await session(shop)).qr.code
    expect(one).toEqual(body.qr.code)
    await at(1)
    const two = (await session(shop)).qr.code
    expect(two).toMatchObject({
      sequence: 2,
      expiresAt: new Date(started + 80_000).toISOString(),
      refreshesLeft: 4,
    })
    expect(two.payload).not.toBe(one.payload)
    expect(await scan(app, one.scanUrl, aPhone())).toBe(410)
    await at(99_999)
    expect((await session(shop)).qr.code).toMatchObject({ sequence: 6, refreshesLeft: 0 })
    await at(1)
    const ended = (await session(shop)).qr
    expect(ended).toMatchObject({
      status: 'expired',
      endReason: 'expired',
      endedAt: new Date(started + 160_000).toISOString(),
      code: null,
    })
    await app.drainJobs()
    expect((await session(shop)).qr).toEqual(ended)
    expect((await shop.call(endSession)).status).toBe(409)
    expect((await shop.call(startSession)).status).toBe(201)
  })

  test('a scan links the phone and selects it; a running session is a conflict', async () => {
    const shop = await numberShop(app)
    const phone = aPhone()
    const { body } = await shop.call(startSession)
    const page = await app.fetch(new Request(`http://localhost${getPath(body.qr.code.scanUrl)}`), {})
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<label for="phone">')
    expect(await scan(app, body.qr.code.scanUrl, phone, 'Caixa')).toBe(200)
    expect(await scan(app, body.qr.code.scanUrl, aPhone())).toBe(410)
    await app.drainJobs()
    expect(await session(shop)).toMatchObject({
      type: 'qr',
      connected: true,
      phone,
      displayName: 'Caixa',
      connectedAt: app.clock.now().toISOString(),
      issue: null,
      qr: { status: 'connected', phone, code: null },
    })
    expect(await typeOf(shop)).toBe('qr')
    expect((await shop.notices('messaging-connected')).length).toBe(1)
    expect((await shop.call(startSession)).status).toBe(409)
    await at(200_000)
    await app.drainJobs()
    expect((await session(shop)).connected).toBe(true)
  })

  test('the code is shown only to keys that may start a session, and stored sealed', async () => {
    const shop = await numberShop(app)
    const { payload } = (await shop.call(startSession)).body.qr.code
    expect((await session(shop)).qr.code.payload).toBe(payload)
    const shown = async (key: string) => (await session(shop, key)).qr
    expect(await shown(await shop.key_(['platform:read']))).toMatchObject({
      status: 'awaiting-scan',
      code: null,
    })
    expect((await shown(await shop.key_(['platform:read', 'platform:write']))).code).toBeNull()
    expect((await shown((await shop.person('agent')).key)).code).toBeNull()
    expect((await shown((await shop.person('member')).key)).code?.payload).toBe(payload)
    const rows = await app.database.query<{ row: string }>(
      'select to_json(c)::text as row from messaging_connections c where store_id = $1',
      [shop.id],
    )
    const jobs = await app.database.query<{ row: string }>('select data::text as row from pgboss.job', [])
    for (const { row } of [...rows, ...jobs]) expect(row).not.toContain(payload)
  })

  test('a new start revokes the old codes; of two parallel starts at most one succeeds', async () => {
    const shop = await numberShop(app)
    const first = (await shop.call(startSession)).body.qr.code
    await at(30_000)
    const second = (await shop.call(startSession)).body.qr.code
    expect(second).toMatchObject({ sequence: 1 })
    expect(await scan(app, first.scanUrl, aPhone())).toBe(410)
    await at(130_000)
    await app.drainJobs()
    // The first session would have expired: its job does not touch the second one.
    expect((await session(shop)).qr).toMatchObject({ status: 'awaiting-scan', code: { sequence: 5 } })
    const both = await Promise.all([shop.call(startSession), shop.call(startSession)])
    expect(both.filter((each) => each.status === 201).length).toBeGreaterThan(0)
    const { code } = (await session(shop)).qr
    expect(await scan(app, code.scanUrl, aPhone())).toBe(200)
  })

  test('an unavailable provider changes nothing', async () => {
    const shop = await numberShop(app)
    await shop.sandbox('provider', { mode: 'down' })
    expect((await shop.call(startSession)).status).toBe(503)
    expect((await session(shop)).qr.status).toBe('none')
    await shop.sandbox('provider', { mode: 'up' })
    expect((await shop.call(startSession)).status).toBe(201)
  })

  test('the merchant is notified of a lost connection after half an hour', async () => {
    const shop = await numberShop(app)
    await shop.linkPhone(aPhone())
    await shop.sandbox('qr', { event: 'lost' })
    await app.drainJobs()
    expect(await session(shop)).toMatchObject({
      type: 'qr',
      connected: false,
      phone: null,
      issue: { code: 'reconnecting' },
      qr: { status: 'reconnecting' },
    })
    expect((await shop.call(startSession)).status).toBe(409)
    await at(10 * 60_000)
    const held = () => connected.flatMap(({ storeId, type }) => (storeId === shop.id ? type : []))
    connected.length = 0
    await shop.sandbox('qr', { event: 'back' })
    await app.drainJobs()
    expect(held()).toEqual(['qr'])
    expect((await session(shop)).connected).toBe(true)
    await at(25 * 60_000)
    await app.drainJobs()
    expect(await shop.notices('messaging-disconnected')).toEqual([])

    connected.length = 0
    await shop.sandbox('qr', { event: 'lost' })
    await app.drainJobs()
    await at(30 * 60_000 - 1)
    await app.drainJobs()
    expect(await shop.notices('messaging-disconnected')).toEqual([])
    await at(1_001)
    await app.drainJobs()
    expect(await shop.notices('messaging-disconnected')).toHaveLength(1)
    expect(held()).toEqual([])
  })

  test('a session logged out on the phone stays selected, with its reason', async () => {
    const shop = await numberShop(app)
    await shop.linkPhone(aPhone())
    await shop.sandbox('qr', { event: 'logout' })
    await app.drainJobs()
    expect(await session(shop)).toMatchObject({
      type: 'qr',
      connected: false,
      issue: { code: 'logged-out' },
      qr: { status: 'disconnected', endReason: 'logged-out', endedAt: app.clock.now().toISOString() },
    })
    expect(await shop.notices('messaging-disconnected')).toHaveLength(1)
    expect((await shop.call(endSession)).status).toBe(409)
    expect(await shop.sandbox('qr', { event: 'back' })).toBe(409)
  })

  test('ending a session logs the phone out and selects none', async () => {
    const shop = await numberShop(app)
    expect((await shop.call(endSession)).status).toBe(409)
    await shop.call(startSession)
    expect((await shop.call(endSession)).status).toBe(204)
    expect((await session(shop)).qr).toMatchObject({ status: 'disconnected', endReason: 'merchant' })
    await shop.linkPhone(aPhone())
    expect((await shop.call(endSession)).status).toBe(204)
    expect(await session(shop)).toMatchObject({ type: null, connected: false, issue: null })
    expect(await typeOf(shop)).toBeNull()
    expect((await shop.call(endSession)).status).toBe(409)
    expect(await shop.sandbox('qr', { event: 'lost' })).toBe(409)
  })

  test('a session ends here at once, and at an unreachable provider by the job', async () => {
    const shop = await numberShop(app)
    await shop.linkPhone(aPhone())
    await shop.sandbox('provider', { mode: 'down' })
    expect((await shop.call(endSession)).status).toBe(204)
    expect((await session(shop)).qr.status).toBe('disconnected')
    await at(20_000)
    await app.drainJobs()
    const waiting = () =>
      app.database.root
        .selectFrom('messaging_releases')
        .select('id')
        .where('store_id', '=', shop.id)
        .execute()
    expect(await waiting()).toHaveLength(1)
    await shop.sandbox('provider', { mode: 'up' })
    await at(120_000)
    await app.drainJobs()
    expect(await waiting()).toEqual([])
    expect(await shop.sandbox('qr', { event: 'lost' })).toBe(409)
  })

  test('a number that another store has connected is refused and logged out, even if both connect at once', async () => {
    const aurora = await numberShop(app)
    const borealis = await numberShop(app)
    // The same phone without its ninth digit.
    await aurora.linkPhone('+5511987654321')
    await borealis.linkPhone('+551187654321')
    expect(await session(borealis)).toMatchObject({
      type: null,
      qr: { status: 'disconnected', endReason: 'number-in-use', phone: null },
    })
    expect(await borealis.sandbox('qr', { event: 'lost' })).toBe(409)
    expect((await session(aurora)).connected).toBe(true)
    await aurora.call(endSession)
    await borealis.linkPhone('+551187654321')
    expect((await session(borealis)).connected).toBe(true)

    const phone = aPhone()
    const pair = [await numberShop(app), await numberShop(app)]
    for (const shop of pair) await scan(app, (await shop.call(startSession)).body.qr.code.scanUrl, phone)
    await app.drainJobs()
    const statuses = await Promise.all(pair.map(async (shop) => (await session(shop)).qr.status))
    expect(statuses.sort()).toEqual(['connected', 'disconnected'])
  })

  test('a scan that arrives after the end logs the phone out again', async () => {
    const shop = await numberShop(app)
    const { body } = await shop.call(startSession)
    expect(await scan(app, body.qr.code.scanUrl, aPhone())).toBe(200)
    expect((await shop.call(endSession)).status).toBe(204)
    await app.drainJobs()
    expect((await session(shop)).qr.status).toBe('disconnected')
    expect(await shop.sandbox('qr', { event: 'lost' })).toBe(409)
  })

  test('the JSON endpoint scans too; an unknown code is 404', async () => {
    const shop = await numberShop(app)
    const { payload } = (await shop.call(startSession)).body.qr.code
    const scanned = (body: object) => post(app, '/sandbox/api/messaging/scan', body)
    expect((await scanned({ payload: 'x', phone: aPhone() })).status).toBe(404)
    expect((await scanned({ payload, phone: 'nobody' })).status).toBe(400)
    expect((await scanned({ payload, phone: aPhone() })).status).toBe(200)
    expect((await scanned({ payload, phone: aPhone() })).status).toBe(410)
  })
})
