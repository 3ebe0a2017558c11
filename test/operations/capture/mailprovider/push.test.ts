import { describe, expect, test, vi } from 'vitest'
import { captureErasure } from '#operations/capture/erasure'
import { mailproviderPull } from '#operations/capture/handles'
import { connectMailingList, mailingList } from '#operations/capture/mailing-list/connection'
import { sandboxMembers, unsubscribeFromSandboxList } from '#operations/capture/mailing-list/sandbox'
import syncContacts from '#operations/capture/mailprovider/api/sync-contacts'
import listSubscribers from '#operations/capture/subscribers/api/list-subscribers'
import { unsubscribeFromNewsletter } from '#operations/capture/subscribers/newsletter-unsubscribe'
import { events } from '#operations/store/index'
import { SystemContext } from '#runtime/context'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { popupShop, readSubscribers, readToken, setMode } from '#test/support/capture'
import { refused } from '#test/support/refused'
import { readRows, setRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
const members = async (shop: Shop) =>
  (await sandboxMembers(app.database.root, shop.id)).map(({ email }) => email)
const connect = async (shop: Shop, credentials: unknown = null) =>
  connectMailingList(await shop.context(), 'sandbox', credentials)
const sync = (shop: Shop, body: Record<string, unknown> = {}) => shop.call(syncContacts, { body })

/** Rows as captures store them. */
const add = async (shop: Shop, rows: Record<string, unknown>[]): Promise<void> => {
  const now = app.clock.now()
  await app.database.root
    .insertInto('newsletter_subscribers')
    .values(
      rows.map((row) => ({
        store_id: shop.id,
        id: newId(app.clock.ms()),
        source: 'popup',
        consent_email: true,
        consent_at: now,
        created_at: now,
        updated_at: now,
        ...row,
      })) as never,
    )
    .execute()
}

describe('POST /mailprovider/sync-contacts', () => {
  test('subscribers with an email and consent are pushed; one who unsubscribed there is unsubscribed here', async () => {
    const shop = await store(app)
    expect((await sync(shop)).status).toBe(409)
    await connect(shop)
    await add(shop, [
      { email: 'ana@example.com', name: 'Ana', phone: '+5511988887777', phone_key: '+5511988887777' },
      { email: 'unsub-rui@example.com' },
      { email: 'invalid-bia@example.com' },
      { email: 'no-consent@example.com', consent_email: false },
      { email: 'gone@example.com', status: 'unsubscribed' },
      { phone: '+5511900000000', phone_key: '+5511900000000', email: null },
    ])
    const queued = await sync(shop)
    expect([queued.status, queued.body.pending]).toEqual([202, 3])
    expect((await sync(shop)).status).toBe(409)
    await app.drainJobs()
    expect(await members(shop)).toEqual(['ana@example.com'])
    const { data } = (await shop.call(listSubscribers)).body
    expect(
      data.map(({ email, status, mailproviderStatus }: Record<string, string>) => [
        email,
        status,
        mailproviderStatus,
      ]),
    ).toEqual([
      [null, 'subscribed', null],
      ['gone@example.com', 'unsubscribed', null],
      ['no-consent@example.com', 'subscribed', null],
      ['invalid-bia@example.com', 'subscribed', 'invalid'],
      ['unsub-rui@example.com', 'unsubscribed', 'unsubscribed'],
      ['ana@example.com', 'subscribed', 'added'],
    ])
    // New: never pushed, or changed since.
    expect((await sync(shop)).body.pending).toBe(0)
    await app.drainJobs()
    expect((await sync(shop, { mode: 'all' })).body.pending).toBe(2)
    await app.drainJobs()
    const notices = await app.database.root
      .selectFrom('notifications')
      .select('message')
      .where('store_id', '=', shop.id)
      .where('type', '=', 'mailprovider-sync-completed')
      .orderBy('id')
      .execute()
    expect(notices.map(({ message }) => message)).toEqual([
      '3 subscribers were pushed.',
      '0 subscribers were pushed.',
      '2 subscribers were pushed.',
    ])
  })

  test.runIf(isFullSuite)(
    '1,201 subscribers are pushed in batches of 500; an outage of the provider loses nobody',
    async () => {
      const shop = await store(app)
      await connect(shop)
      const many = Array.from({ length: 1201 }, (_, n) => ({ email: `many${n}@example.com` }))
      await add(shop, many)
      expect((await sync(shop)).body.pending).toBe(1201)
      await setMode(shop, 'mailingList', 'down')
      await app.drainJobs({ allowFailures: true })
      await setMode(shop, 'mailingList', null)
      await app.advance(120_000)
      await app.drainJobs({ allowFailures: true })
      expect(await members(shop)).toHaveLength(1201)
      const [row] = await readRows(shop, 'newsletter_syncs', ['status', 'pushed'])
      expect(row).toEqual({ status: 'completed', pushed: 1201 })
    },
  )

  test('an unknown list is 400, no chosen list 409, a provider that is down 503', async () => {
    const shop = await store(app)
    await connect(shop)
    const unknown = await sync(shop, { listId: 'nothing' })
    expect(unknown).toMatchObject(refused(400, 'listId: the email provider has no list nothing'))
    await setMode(shop, 'mailingList', 'down')
    expect((await sync(shop)).status).toBe(503)
    await setMode(shop, 'mailingList', null)
    await setRows(shop, 'connections', { settings: '{}' })
    expect((await sync(shop)).status).toBe(409)
    expect((await sync(shop, { listId: 'sandbox-main' })).status).toBe(202)
    await app.drainJobs()
  })
})

describe('connecting an email provider', () => {
  test('an only list is chosen, credentials are sealed, unknown lists and providers are refused', async () => {
    const shop = await store(app)
    await connect(shop, { apiKey: 'a very secret key' })
    const ctx = await shop.context()
    expect(await mailingList(ctx)).toMatchObject({
      provider: 'sandbox',
      listId: 'sandbox-main',
      store: { id: shop.id, credentials: { apiKey: 'a very secret key' } },
    })
    const [row] = await app.database.root
      .selectFrom('connections')
      .selectAll()
      .where('store_id', '=', shop.id)
      .execute()
    expect(JSON.stringify(row)).not.toContain('very secret')
    await expect(connect(shop, { listId: 'nothing' })).rejects.toThrow('credentials.listId')
    await expect(connectMailingList(ctx, 'constructor', null)).rejects.toThrow('provider:')
    await expect(connect(shop, { apiKey: 'invalid' })).rejects.toThrow('does not take the credentials')
  })
})

describe('pushing each new subscriber', () => {
  test('subscribers with consent are pushed once, however many jobs run; a change pushes them again', async () => {
    const shop = await popupShop(app, { fields: { name: { enabled: true } }, consentRequired: false })
    await connect(shop)
    await shop.subscribe({ email: 'before@example.com' })
    expect((await shop.save({ isMailproviderEnabled: true })).status).toBe(200)
    await Promise.all(Array.from({ length: 12 }, (_, n) => shop.subscribe({ email: `push${n}@example.com` })))
    await shop.subscribe({ email: 'silent@example.com', consent: false })
    await app.drainJobs()
    const pushed = await members(shop)
    expect(pushed).toHaveLength(12)
    expect(pushed).not.toContain('before@example.com')
    expect(pushed).not.toContain('silent@example.com')
    // Filled in a missing name: changed since.
    await shop.subscribe({ email: 'push0@example.com', name: 'Zoe' })
    await app.drainJobs()
    const [zoe] = (await sandboxMembers(app.database.root, shop.id)).filter(
      ({ email }) => email === 'push0@example.com',
    )
    expect(zoe).toMatchObject({ name: 'Zoe' })
    const rows = await readSubscribers(shop)
    expect(rows.find(({ email }) => email === 'push0@example.com')).toMatchObject({
      mailprovider_status: 'updated',
      push_due: false,
    })
  })

  test.runIf(isFullSuite)('a provider that stays down notifies once, and nobody is lost', async () => {
    const shop = await popupShop(app)
    await connect(shop)
    await shop.save({ isMailproviderEnabled: true })
    await setMode(shop, 'mailingList', 'down')
    await Promise.all(['one', 'two', 'three'].map((name) => shop.subscribe({ email: `${name}@example.com` })))
    for (let tries = 0; tries < 8; tries += 1) {
      await app.drainJobs({ allowFailures: true })
      await app.advance(6 * 3_600_000)
    }
    const notices = await readRows(shop, 'notifications', ['type'], { level: 'error' })
    expect(new Set(notices.map(({ type }) => type))).toEqual(new Set(['mailprovider-push-failed']))
    expect(notices.length).toBeLessThan(3)
    await setMode(shop, 'mailingList', null)
    await shop.subscribe({ email: 'four@example.com', token: await readToken(shop) })
    await app.drainJobs()
    expect(await members(shop)).toHaveLength(4)
  })
})

describe('unsubscribed people', () => {
  const pushedShop = async (...names: string[]) => {
    const shop = await popupShop(app)
    await connect(shop)
    await shop.save({ isMailproviderEnabled: true })
    for (const name of names) await shop.subscribe({ email: `${name}@example.com` })
    await app.drainJobs()
    return shop
  }
  const rowOf = async (shop: Shop, name: string) =>
    (await readSubscribers(shop)).find(({ email }) => email === `${name}@example.com`)!
  const leave = async (shop: Shop, name: string) => {
    const { id } = await rowOf(shop, name)
    const ctx = await shop.context()
    await ctx.transaction((tx) => unsubscribeFromNewsletter(tx, id))
  }
  const pull = async (shop: Shop) => {
    const ctx = await shop.context()
    await ctx.transaction((tx) => tx.queue(mailproviderPull, {}))
    await app.drainJobs()
  }

  test('unsubscribed here: removed there, and pushed again with a new consent', async () => {
    const shop = await pushedShop('ana', 'bia')
    await leave(shop, 'ana')
    await leave(shop, 'ana')
    await app.drainJobs()
    expect(await members(shop)).toEqual(['bia@example.com'])
    expect(await rowOf(shop, 'ana')).toMatchObject({
      status: 'unsubscribed',
      mailprovider_status: null,
      push_due: false,
    })
    // Our own removal is not reported as their unsubscribe.
    await pull(shop)
    await shop.subscribe({ email: 'ana@example.com' })
    await app.drainJobs()
    expect((await members(shop)).sort()).toEqual(['ana@example.com', 'bia@example.com'])
    expect(await rowOf(shop, 'ana')).toMatchObject({ status: 'subscribed', mailprovider_status: 'updated' })
  })

  test.each(['when they are new', 'when they are pushed again'])(
    'unsubscribed here during a push, %s: removed there',
    async (when) => {
      const isNew = when === 'when they are new'
      const shop = await pushedShop(...(isNew ? [] : ['ana']))
      if (isNew) await add(shop, [{ email: 'ana@example.com' }])
      const port = app.services.adapters.mailingList.sandbox!
      const push = port.upsertSubscribers.bind(port)
      const spy = vi.spyOn(port, 'upsertSubscribers').mockImplementationOnce(async (...given) => {
        const answers = await push(...given)
        await leave(shop, 'ana')
        return answers
      })
      expect((await sync(shop, { mode: 'all' })).status).toBe(202)
      await app.drainJobs()
      expect(spy).toHaveBeenCalledOnce()
      spy.mockRestore()
      expect(await members(shop)).toEqual([])
      expect(await rowOf(shop, 'ana')).toMatchObject({
        status: 'unsubscribed',
        mailprovider_status: null,
        push_due: false,
      })
    },
  )

  test.each(['by hand', 'by themselves'])(
    'unsubscribed here after a push %s that died before it was recorded: removed there',
    async (how) => {
      const shop = await pushedShop()
      const port = app.services.adapters.mailingList.sandbox!
      const push = port.upsertSubscribers.bind(port)
      const spy = vi.spyOn(port, 'upsertSubscribers').mockImplementationOnce(async (...given) => {
        await push(...given)
        throw new Error('killed')
      })
      if (how === 'by hand') {
        await add(shop, [{ email: 'ana@example.com' }])
        expect((await sync(shop, { mode: 'all' })).status).toBe(202)
      } else await shop.subscribe({ email: 'ana@example.com' })
      await app.drainJobs({ allowFailures: true })
      expect(spy).toHaveBeenCalledOnce()
      spy.mockRestore()
      expect(await members(shop)).toEqual(['ana@example.com'])
      await leave(shop, 'ana')
      await app.advance(180_000)
      await app.drainJobs()
      expect([await members(shop), (await rowOf(shop, 'ana')).push_due]).toEqual([[], false])
    },
  )

  test('unsubscribed here while the provider is down: removed once it is back', async () => {
    const shop = await pushedShop('ana')
    await setMode(shop, 'mailingList', 'down')
    await leave(shop, 'ana')
    await app.drainJobs({ allowFailures: true })
    expect(await members(shop)).toEqual(['ana@example.com'])
    await setMode(shop, 'mailingList', null)
    await app.advance(120_000)
    await app.drainJobs({ allowFailures: true })
    expect(await members(shop)).toEqual([])
  })

  test.runIf(isFullSuite)(
    'unsubscribed here while the provider is down for days: removed within an hour of its return',
    async () => {
      const shop = await pushedShop('ana')
      await setMode(shop, 'mailingList', 'down')
      await leave(shop, 'ana')
      for (let tries = 0; tries < 16; tries += 1) {
        await app.drainJobs({ allowFailures: true })
        await app.advance(6 * 3_600_000)
      }
      await setMode(shop, 'mailingList', null)
      await app.advance(3_600_000)
      await app.drainJobs()
      expect(await members(shop)).toEqual([])
      expect(await rowOf(shop, 'ana')).toMatchObject({ status: 'unsubscribed', push_due: false })
    },
  )

  describe('an erased person is taken off the list, then their email is erased', () => {
    const erase = async (shop: Shop, name: string) => {
      const email = `${name}@example.com`
      const [key, storeId] = [`erase:${shop.id}`, shop.id]
      await events.accept(new SystemContext(app.services, app.services.log, 'test'), 'ecommerce', 'shopify', [
        {
          ...{ key, kind: 'customer.redacted', storeRef: 'a.example', storeId },
          occurredAt: app.clock.now().toISOString(),
          data: { customerId: null, email, phone: null, orderIds: [] },
        },
      ])
      await app.drainJobs({ allowFailures: true })
    }
    const emails = async (shop: Shop) => (await readSubscribers(shop)).map(({ email }) => email)

    test.each<[string, (shop: Shop & { subscribe(person: object): Promise<unknown> }) => Promise<unknown>]>([
      ['who was pushed', async () => undefined],
      ['who waits to be pushed again', (shop) => setRows(shop, 'newsletter_subscribers', { push_due: true })],
      ['who waits to be taken off', (shop) => leave(shop, 'ana')],
      [
        'whose push died before it was recorded',
        (shop) =>
          setRows(shop, 'newsletter_subscribers', {
            ...{ push_due: true, push_claim: newId(1), mailprovider_status: null, pushed_revision: null },
            push_claimed_at: new Date(app.clock.ms() - 180_000),
          }),
      ],
    ])('%s', async (_who, prepare) => {
      const shop = await pushedShop('ana')
      await prepare(shop)
      await add(shop, [{ email: 'bia@example.com' }])
      await erase(shop, 'ana')
      expect([await members(shop), await emails(shop)]).toEqual([[], [null, 'bia@example.com']])
    })

    test('during a push', async () => {
      const shop = await pushedShop()
      const port = app.services.adapters.mailingList.sandbox!
      const push = port.upsertSubscribers.bind(port)
      const spy = vi.spyOn(port, 'upsertSubscribers').mockImplementationOnce(async (...given) => {
        const ctx = await shop.context()
        const person = { customerId: null, phoneKeys: [], orderIds: [], names: [] }
        await ctx.transaction((tx) => captureErasure.erase(tx, { ...person, emailKeys: ['ana@example.com'] }))
        return push(...given)
      })
      await shop.subscribe({ email: 'ana@example.com' })
      await app.drainJobs()
      spy.mockRestore()
      expect([await members(shop), await emails(shop)]).toEqual([[], [null]])
    })

    test('while the provider is down: once it is back', async () => {
      const shop = await pushedShop('ana')
      await setMode(shop, 'mailingList', 'down')
      await erase(shop, 'ana')
      expect(await emails(shop)).toEqual(['ana@example.com'])
      await setMode(shop, 'mailingList', null)
      await app.advance(120_000)
      await app.drainJobs({ allowFailures: true })
      expect([await members(shop), await emails(shop)]).toEqual([[], [null]])
    })

    test('or at once if no provider is connected, and after a week at the latest', async () => {
      const shop = await popupShop(app)
      await shop.subscribe({ email: 'ana@example.com' })
      await erase(shop, 'ana')
      expect(await emails(shop)).toEqual([null])
      const other = await pushedShop('bia')
      await setMode(other, 'mailingList', 'down')
      await erase(other, 'bia')
      await app.advance(8 * 24 * 3_600_000)
      await app.drainJobs({ allowFailures: true })
      expect(await emails(other)).toEqual([null])
      await setMode(other, 'mailingList', null)
    })
  })

  test('unsubscribed there, after a clock that was a year ahead for an hour: unsubscribed here', async () => {
    const shop = await pushedShop('ana')
    const now = app.clock.now()
    const ahead = new Date(now.getTime() + 365 * 24 * 3_600_000)
    await app.setClock(ahead)
    await pull(shop)
    await app.setClock(now)
    await unsubscribeFromSandboxList(app.database.root, shop.id, 'ana@example.com', app.clock.now())
    await pull(shop)
    expect(await rowOf(shop, 'ana')).toMatchObject({ status: 'unsubscribed' })
  })
  test('unsubscribed here without having been pushed: no request', async () => {
    const shop = await pushedShop()
    await add(shop, [{ email: 'quiet@example.com' }])
    await leave(shop, 'quiet')
    expect(await rowOf(shop, 'quiet')).toMatchObject({ status: 'unsubscribed', push_due: false })
  })

  test('unsubscribed there: unsubscribed here by the next pull, and only once', async () => {
    const shop = await pushedShop('ana', 'bia')
    await unsubscribeFromSandboxList(app.database.root, shop.id, 'ana@example.com', app.clock.now())
    await pull(shop)
    expect(await rowOf(shop, 'ana')).toMatchObject({
      status: 'unsubscribed',
      mailprovider_status: 'unsubscribed',
    })
    expect(await rowOf(shop, 'bia')).toMatchObject({ status: 'subscribed' })
    // Subscribed here again with a new consent: the old unsubscribe is not applied again.
    await setRows(
      shop,
      'newsletter_subscribers',
      { status: 'subscribed', unsubscribed_at: null },
      { email: 'ana@example.com' },
    )
    await pull(shop)
    expect(await rowOf(shop, 'ana')).toMatchObject({ status: 'subscribed' })
    // A push asks the provider, which keeps them unsubscribed.
    expect((await sync(shop, { mode: 'all' })).status).toBe(202)
    await app.drainJobs()
    expect(await members(shop)).toEqual(['bia@example.com'])
    expect(await rowOf(shop, 'ana')).toMatchObject({ status: 'unsubscribed' })
  })
})
