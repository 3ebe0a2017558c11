/** The store's profile, read and changed (store, rule 12). */

import { describe, expect, test } from 'vitest'
import { stores } from '#operations/store/index'
import getBranding from '#operations/store/profile/api/get-branding'
import getInformation from '#operations/store/profile/api/get-information'
import getStore from '#operations/store/profile/api/get-store'
import updateStore from '#operations/store/profile/api/update-store'
import type { Operation } from '#runtime/operation'
import { seal } from '#runtime/secrets'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()

const read = async (shop: Shop, operation: Operation = getStore) => (await shop.call(operation)).body
const patch = (shop: Shop, body: unknown, headers: Record<string, string> = {}) =>
  shop.call(updateStore, { body, headers })
const readPreferences = async (shop: Shop) => (await read(shop)).settings.preferences

/** Preferences `levels` deep. */
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) })

describe('GET /store', () => {
  test('shows the store, its plan and its settings', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await store(app, { plan: 'growth' })
    const answer = await shop.call(getStore)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      id: shop.id,
      name: expect.stringMatching(/^Shop/),
      domain: `${shop.slug}.example.com`,
      slug: shop.slug,
      publicId: shop.publicId,
      platform: 'sandbox',
      connected: false,
      email: null,
      phone: null,
      country: 'BR',
      currency: 'BRL',
      timezone: 'America/Sao_Paulo',
      locale: 'pt-BR',
      logoUrl: null,
      plan: {
        id: 'growth',
        name: 'Growth',
        messagesPerCycle: 10_000,
        features: expect.arrayContaining(['campaigns', 'inbox']),
      },
      subscription: { status: 'active', currentPeriodEnd: '2026-12-20T12:00:00.000Z', canWrite: true },
      settings: {
        messagingConnectionType: null,
        attribution: {
          automationHours: 120,
          messagingCampaignHours: 120,
          newsletterHours: 168,
          stockNotificationHours: 168,
        },
        preferences: {},
      },
      joinedAt: '2026-11-20T12:00:00.000Z',
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
    expect(answer.headers.get('etag')).toMatch(/^"/)
  })

  test('computes from the clock whether the store may write, even if a job is late', async () => {
    const shop = await store(app, { plan: null })
    expect((await read(shop)).subscription).toMatchObject({ status: 'trialing', canWrite: true })
    await app.advance(14 * 24 * 3_600_000 - 1)
    expect((await read(shop)).subscription.status).toBe('trialing')
    await app.advance(1)
    expect((await read(shop)).subscription).toMatchObject({ status: 'ended', canWrite: false })
    expect((await read(shop, getInformation)).subscriptionStatus).toBe('ended')
  })
})

describe('GET /store/information', () => {
  test('is flat, lists connections and contains no token', async () => {
    const shop = await store(app)
    const now = app.clock.now()
    const token = 'token-of-the-platform'
    await app.database.root
      .insertInto('connections')
      .values({
        store_id: shop.id,
        port: 'ecommerce',
        provider: 'sandbox',
        credentials: seal(app.services.settings, `${shop.id}:ecommerce`, { token }),
        connected_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute()
    const { status, body } = await shop.call(getInformation)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: shop.id,
      platformStoreId: `sandbox-${shop.slug}`,
      agencyId: null,
      planId: 'scale',
      subscriptionStatus: 'active',
      messagingConnectionType: null,
      preferences: {},
      connections: [
        { port: 'ecommerce', provider: 'sandbox', connected: true, connectedAt: now.toISOString() },
      ],
      onboardingCompletedAt: null,
    })
    for (const key of ['plan', 'subscription', 'connected', 'settings']) expect(body).not.toHaveProperty(key)
    const profile = await read(shop)
    expect(profile.connected).toBe(true)
    expect(JSON.stringify([body, profile])).not.toMatch(/token|credentials|v1\./)
  })
})

describe('GET /store/branding', () => {
  test('is empty without an agency, and returns the agency’s branding with one', async () => {
    const shop = await store(app)
    const none = await read(shop, getBranding)
    expect(none).toMatchObject({
      hasBranding: false,
      hideServiceBrand: false,
      agencyName: null,
      logoUrl: null,
    })
    expect(Object.keys(none)).toHaveLength(11)
    const now = app.clock.now()
    const agency = await app.database.root
      .insertInto('agencies')
      .values({
        id: shop.userId,
        name: `Studio ${shop.slug}`,
        branding: JSON.stringify({ primaryColor: '#112233', hideServiceBrand: true }),
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await app.database.root
      .updateTable('stores')
      .set({ agency_id: agency.id })
      .where('id', '=', shop.id)
      .execute()
    expect(await read(shop, getBranding)).toMatchObject({
      hasBranding: true,
      agencyName: `Studio ${shop.slug}`,
      primaryColor: '#112233',
      logoUrl: null,
      hideServiceBrand: true,
    })
    expect((await read(await store(app), getBranding)).hasBranding).toBe(false)
  })
})

describe('PATCH /store', () => {
  test('either read sent back unchanged changes nothing', async () => {
    const shop = await store(app)
    await patch(shop, {
      name: 'Aurora',
      email: 'Shop@Example.com',
      phone: '(11) 4000-2000',
      logoUrl: 'https://example.com/logo.png',
      attribution: { automationHours: 48 },
      theme: { a: 1, list: [{ b: null }, -0] },
    })
    await app.advance(60_000)
    for (const operation of [getStore, getInformation]) {
      const before = await shop.call(operation)
      const answer = await patch(shop, before.body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      const after = await shop.call(operation)
      expect(after.body).toEqual(before.body)
      expect(after.headers.get('etag')).toBe(before.headers.get('etag'))
    }
  })

  test('known fields are stored and checked', async () => {
    const shop = await store(app)
    const before = await read(shop)
    await app.advance(1000)
    const { status, body } = await patch(shop, {
      name: '  New name ',
      email: 'shop@example.com',
      phone: '11 98888-7777',
      timezone: 'America/New_York',
      locale: 'en-US',
      logoUrl: 'https://example.com/logo.png',
      settings: { messagingConnectionType: 'official', attribution: { automationHours: 1 } },
    })
    expect([status, body]).toEqual([
      200,
      {
        ...before,
        name: 'New name',
        email: 'shop@example.com',
        phone: '+5511988887777',
        timezone: 'America/New_York',
        locale: 'en-US',
        logoUrl: 'https://example.com/logo.png',
        settings: {
          ...before.settings,
          messagingConnectionType: 'official',
          attribution: { ...before.settings.attribution, automationHours: 1 },
        },
        updatedAt: app.clock.now().toISOString(),
      },
    ])
    expect(await read(shop)).toEqual(body)
    const cleared = await patch(shop, {
      email: null,
      phone: null,
      logoUrl: null,
      messagingConnectionType: null,
    })
    expect(cleared.body).toMatchObject({ email: null, phone: null, logoUrl: null })
    expect(cleared.body.settings.messagingConnectionType).toBeNull()
  })

  test('a new time zone applies to the next request', async () => {
    const shop = await store(app)
    await shop.call(getStore)
    await patch(shop, { timezone: 'America/Santiago' })
    const access = await app.gateway.keys.find(shop.key)
    expect(access?.store.timezone).toBe('America/Santiago')
  })

  test('If-Match accepts the ETag of either read', async () => {
    const shop = await store(app)
    for (const operation of [getStore, getInformation]) {
      const tag = (await shop.call(operation)).headers.get('etag')!
      expect((await patch(shop, { name: tag }, { 'if-match': tag })).status).toBe(200)
    }
  })

  test('new attribution hours keep the earlier ones for earlier orders', async () => {
    const shop = await store(app)
    await patch(shop, { attribution: { newsletterHours: 24 } })
    const { attribution } = await app.database.root
      .selectFrom('stores')
      .select('attribution')
      .where('id', '=', shop.id)
      .executeTakeFirstOrThrow()
    expect(attribution).toMatchObject({ newsletterHours: 24, earlier: [{ newsletterHours: 168 }] })
  })

  test.each([
    [{ name: 'x'.repeat(121) }, 'name: must have at most 120 characters'],
    [{ name: null }, 'name: must not be null'],
    [{ email: 'nobody' }, 'email: must be an email address'],
    [{ phone: 'call me' }, 'phone: is not a phone number'],
    [{ timezone: 'Mars/Base' }, 'timezone: Mars/Base is no time zone'],
    [{ timezone: '+03:00' }, 'timezone: +03:00 is no time zone'],
    [{ timezone: 'america/sao_paulo' }, 'timezone: america/sao_paulo is no time zone'],
    [{ timezone: null }, 'timezone: must not be null'],
    [{ locale: 'en_US' }, 'locale: en_US is no language tag'],
    [{ logoUrl: 'http://example.com/a.png' }, 'logoUrl: must be an https address'],
    [{ logoUrl: `https://example.com/${'a'.repeat(2000)}` }, 'logoUrl: must have at most 2000 characters'],
    [{ messagingConnectionType: 'pigeon' }, 'messagingConnectionType: must be one of qr, official, shared'],
    [{ settings: null }, 'settings: must not be null'],
    [{ attribution: null }, 'attribution: must not be null'],
    [{ attribution: { automationHours: 0 } }, 'attribution.automationHours: must be at least 1'],
    [{ attribution: { automationHours: 721 } }, 'attribution.automationHours: must be at most 720'],
    [{ attribution: { automationHours: null } }, 'attribution.automationHours: must not be null'],
    [{ preferences: null }, 'preferences: must not be null'],
    [
      { messagingConnectionType: 'qr', settings: { messagingConnectionType: 'official' } },
      'messagingConnectionType: differs from settings.messagingConnectionType',
    ],
    [{ preferences: { a: 1 }, settings: { preferences: { a: 2 } } }, 'preferences: differs'],
    [nested(11), 'preferences: must not be more than 10 levels deep'],
    [{ preferences: nested(11) }, 'preferences: must not be more than 10 levels deep'],
    [{ big: 'é'.repeat(32 * 1024) }, 'preferences: must not be larger than 64 KiB'],
  ])('%j is refused by name', async (body, message) => {
    const shop = await store(app)
    const before = await shop.call(getStore)
    const answer = await patch(shop, body)
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(message)])
    expect((await shop.call(getStore)).body).toEqual(before.body)
  })

  test('preferences up to the limits are stored', async () => {
    const shop = await store(app)
    expect((await patch(shop, nested(10))).status).toBe(200)
    expect(await readPreferences(shop)).toEqual(nested(10))
    const other = await store(app)
    const room = 64 * 1024 - JSON.stringify({ big: '' }).length
    expect((await patch(other, { big: 'x'.repeat(room) })).status).toBe(200)
    expect((await patch(other, { more: 1 })).status).toBe(400)
    expect((await patch(other, { big: null, more: 1 })).status).toBe(200)
  })

  test('a body nested a hundred thousand levels deep and an infinite number are refused', async () => {
    const shop = await store(app)
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect((await patch(shop, deep)).status).toBe(400)
    const { status, body } = await patch(shop, '{"a":{"b":1e999}}')
    expect([status, body.error.message]).toEqual([
      400,
      expect.stringMatching(/^a\.b: must be a number up to/),
    ])
  })

  test('every other key is a preference, merged at every depth', async () => {
    const shop = await store(app)
    const first = await patch(shop, { messagingConnectionType: 'official', theme: { a: 1 } })
    expect(first.body.settings).toMatchObject({
      messagingConnectionType: 'official',
      preferences: { theme: { a: 1 } },
    })
    await patch(shop, { theme: { b: 2 } })
    expect(await readPreferences(shop)).toEqual({ theme: { a: 1, b: 2 } })
    await patch(shop, { theme: { a: null } })
    expect(await readPreferences(shop)).toEqual({ theme: { b: 2 } })
    await patch(shop, { settings: { preferences: { theme: { c: { d: null, e: [null] } } } } })
    expect(await readPreferences(shop)).toEqual({ theme: { b: 2, c: { e: [null] } } })
    await patch(shop, { preferences: { list: [1, 2] }, list: [3] })
    expect((await readPreferences(shop)).list).toEqual([3])
    await patch(shop, { theme: null, list: null })
    expect(await readPreferences(shop)).toEqual({})
  })

  test('concurrent writes of different preferences are all kept', async () => {
    const shop = await store(app)
    const names = Array.from({ length: 8 }, (_each, index) => `key${index}`)
    const answers = await Promise.all(names.map((name) => patch(shop, { [name]: true })))
    expect(answers.map((answer) => answer.status)).toEqual(names.map(() => 200))
    expect(Object.keys(await readPreferences(shop)).sort()).toEqual(names)
  })
})

describe('stores.selectConnection', () => {
  test('selects the sending connection, which PATCH /store reads and writes too', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const selected = async () => {
      const { settings, updatedAt } = (await shop.call(getStore)).body
      return [settings.messagingConnectionType, updatedAt]
    }
    await app.advance(1000)
    await ctx.transaction((tx) => stores.selectConnection(tx, 'shared'))
    const first = await selected()
    expect(first).toEqual(['shared', app.clock.now().toISOString()])
    await app.advance(1000)
    await ctx.transaction((tx) => stores.selectConnection(tx, 'shared'))
    await patch(shop, { messagingConnectionType: 'shared' })
    expect(await selected()).toEqual(first)
    await patch(shop, { settings: { messagingConnectionType: 'qr' } })
    expect(await selected()).toEqual(['qr', app.clock.now().toISOString()])
    await ctx.transaction((tx) => stores.selectConnection(tx, null))
    expect((await selected())[0]).toBeNull()
  })
})
