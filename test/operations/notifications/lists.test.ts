import { describe, expect, test } from 'vitest'
import createNotification from '#operations/notifications/api/create-notification'
import listNotifications from '#operations/notifications/api/list-notifications'
import readAllNotifications from '#operations/notifications/api/read-all-notifications'
import readNotification from '#operations/notifications/api/read-notification'
import removeNotification from '#operations/notifications/api/remove-notification'
import type { Notice } from '#operations/notifications/notify'
import { notify } from '#operations/store/index'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type CallInput, type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const notice = (title: string, more: Partial<Notice> = {}): Notice => ({
  type: 'export-ready',
  level: 'success',
  title,
  message: null,
  dedupeKey: null,
  ...more,
})
const list = async (shop: Shop, input: CallInput = {}) => (await shop.call(listNotifications, input)).body
const titles = async (shop: Shop, input: CallInput = {}): Promise<string[]> =>
  (await list(shop, input)).data.map((each: { title: string }) => each.title)

describe('GET /notifications', () => {
  test('lists notifications for everybody and for the creator of the key, newest first', async () => {
    const shop = await store(app)
    const ada = await shop.person('agent')
    const ctx = await shop.context()
    await notify(ctx, notice('first'))
    await app.advance(1)
    await notify(ctx, notice('for Ada', { recipientIds: [ada.userId], level: 'warning', type: 'assigned' }))
    await app.advance(1)
    await notify(ctx, notice('last', { message: 'Two rows.', link: '/exports', data: { rows: 2 } }))
    const answer = await list(shop)
    expect(answer).toMatchObject({ page: 1, limit: 20, total: 2, unreadCount: 2 })
    expect(answer.data[0]).toEqual({
      id: answer.data[0].id,
      type: 'export-ready',
      level: 'success',
      title: 'last',
      message: 'Two rows.',
      link: '/exports',
      data: { rows: 2 },
      source: 'system',
      createdBy: null,
      recipientIds: null,
      isRead: false,
      readAt: null,
      createdAt: ctx.now().toISOString(),
      updatedAt: ctx.now().toISOString(),
    })
    expect(await titles(shop)).toEqual(['last', 'first'])
    const hers = await list(shop, { key: ada.key })
    expect(hers).toMatchObject({ total: 3, unreadCount: 3 })
    expect(hers.data[1]).toMatchObject({ title: 'for Ada', recipientIds: [ada.userId] })
  })

  test('filters and pages do not affect the unread count', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    for (const level of ['info', 'success', 'warning', 'error'] as const) {
      await notify(ctx, notice(level, { level, type: level === 'error' ? 'job-failed' : 'news' }))
      await app.advance(1)
    }
    const [error] = (await list(shop)).data
    await shop.call(readNotification, { body: { id: error.id } })
    expect(await titles(shop, { query: { isRead: true } })).toEqual(['error'])
    expect(await titles(shop, { query: { isRead: false } })).toEqual(['warning', 'success', 'info'])
    expect(await titles(shop, { query: { level: 'warning,error' } })).toEqual(['error', 'warning'])
    expect(await titles(shop, { query: { type: ['news'], level: 'info' } })).toEqual(['info'])
    expect(await titles(shop, { query: { page: 2, limit: 3 } })).toEqual(['info'])
    expect(await list(shop, { query: { type: 'job-failed' } })).toMatchObject({ total: 1, unreadCount: 3 })
    expect(await list(shop, { query: { type: 'nothing' } })).toMatchObject({
      data: [],
      total: 0,
      unreadCount: 3,
    })
  })

  test('paging with a cursor while the list changes returns each notification exactly once', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    // Several at one instant are ordered by id.
    for (let n = 0; n < 23; n += 1) {
      await notify(ctx, notice(`n ${n}`))
      if (n % 3 === 0) await app.advance(1)
    }
    const met: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const query: NonNullable<CallInput['query']> = {
        isRead: false,
        limit: 5,
        ...(cursor ? { cursor } : {}),
      }
      const answer = await list(shop, { query })
      // Read ones leave the filter and new ones come first: neither moves the cursor.
      expect(answer).toMatchObject({ page: cursor ? null : 1, limit: 5, total: 23 - met.length + pages })
      for (const { id, title } of answer.data) {
        met.push(title)
        await shop.call(readNotification, { body: { id } })
      }
      await app.advance(1)
      await notify(ctx, notice(`new ${pages}`))
      cursor = answer.nextCursor
      pages += 1
    } while (cursor)
    expect(pages).toBe(5)
    expect(met).toHaveLength(23)
    expect(new Set(met)).toEqual(new Set(Array.from({ length: 23 }, (_, n) => `n ${n}`)))
    expect(await list(shop, { query: { limit: 28 } })).toMatchObject({ total: 28, nextCursor: null })
    expect(await list(shop, { query: { page: 9 } })).toMatchObject({ data: [], page: 9, nextCursor: null })
  })

  test('a cursor is refused with a page, with other filters, of another member, or if it is forged', async () => {
    const shop = await store(app)
    const ada = await shop.person('agent')
    const ctx = await shop.context()
    for (const title of ['one', 'two', 'three']) await notify(ctx, notice(title))
    const { nextCursor: cursor } = await list(shop, { query: { limit: 1, level: 'success' } })
    const mine = { limit: 1, level: 'success', cursor }
    expect((await list(shop, { query: { ...mine, limit: 2 } })).data).toHaveLength(2)
    const [fingerprint, at] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const forged = Buffer.from(JSON.stringify([fingerprint, at, 'nope'])).toString('base64url')
    for (const input of [
      { query: { ...mine, page: 1 } },
      { query: { limit: 1, cursor } },
      { query: { ...mine, isRead: false } },
      { query: { ...mine, level: 'error' } },
      { query: mine, key: ada.key },
      { query: { ...mine, cursor: forged } },
      { query: { ...mine, cursor: 'nope' } },
      { query: { ...mine, cursor: '' } },
    ]) {
      const { status, body } = await shop.call(listNotifications, input)
      expect([status, body.error.message]).toEqual([400, expect.stringContaining('cursor: ')])
    }
  })
})

describe('POST /notifications/create', () => {
  test('shows it to every member; its author has read it', async () => {
    const shop = await store(app)
    const ada = await shop.person('agent')
    const made = await shop.call(createNotification, { key: ada.key, body: { title: '  Stock count  ' } })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: made.body.id,
      type: 'custom',
      level: 'info',
      title: 'Stock count',
      message: null,
      link: null,
      data: null,
      source: 'api',
      createdBy: ada.userId,
      recipientIds: null,
      isRead: true,
      readAt: app.clock.now().toISOString(),
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    expect((await list(shop, { key: ada.key })).data).toEqual([made.body])
    expect(await list(shop)).toMatchObject({ unreadCount: 1, data: [{ isRead: false, readAt: null }] })
  })

  test('accepts all its fields, and a whole Notification, whose other fields are ignored', async () => {
    const shop = await store(app)
    const body = {
      type: 'stock-count',
      level: 'error',
      title: 'x'.repeat(120),
      message: 'm'.repeat(1000),
      link: `https://example.com/${'a'.repeat(480)}`,
      data: { nested: { list: [1, 'two', null] } },
    }
    const { body: first } = await shop.call(createNotification, { body })
    expect(first).toMatchObject(body)
    const again = await shop.call(createNotification, {
      body: { ...first, source: 'system', recipientIds: [] },
    })
    expect(again.status).toBe(201)
    expect(again.body).toMatchObject({ ...body, source: 'api', recipientIds: null })
    expect(again.body.id).not.toBe(first.id)
    expect(
      (await shop.call(createNotification, { body: { title: 'a', message: '' } })).body.message,
    ).toBeNull()
  })

  test.each([
    ['title', {}],
    ['title', { title: '   ' }],
    ['title', { title: 'x'.repeat(121) }],
    ['title', { title: 'two\nlines' }],
    ['message', { message: 'm'.repeat(1001) }],
    ['type', { type: 'Upper' }],
    ['type', { type: 'a'.repeat(61) }],
    ['type', { type: null }],
    ['level', { level: 'loud' }],
    ['link', { link: 'http://example.com' }],
    ['link', { link: '//example.com' }],
    ['link', { link: '/\\example.com' }],
    ['link', { link: 'javascript:alert(1)' }],
    ['link', { link: '/a b' }],
    ['link', { link: `/${'a'.repeat(500)}` }],
    ['data', { data: ['a list'] }],
    ['data', { data: { big: 'x'.repeat(8192) } }],
    ['data', { data: { a: { b: { c: { d: { e: { f: { g: { h: { i: { j: {} } } } } } } } } } } }],
    ['silent', { silent: true }],
  ])('refuses an invalid %s', async (field, fields) => {
    const shop = await store(app)
    const body = field === 'title' ? fields : { title: 'A title', ...fields }
    const { status, body: answer } = await shop.call(createNotification, { body })
    expect([status, answer.error.message]).toEqual([400, expect.stringContaining(`${field}: `)])
    expect(await list(shop)).toMatchObject({ total: 0 })
  })
})

describe('DELETE /notifications/remove', () => {
  test('removes it for the whole store; the second time it is a 404', async () => {
    const shop = await store(app)
    const ada = await shop.person('agent')
    const { body } = await shop.call(createNotification, { body: { title: 'old news' } })
    const remove = () => shop.call(removeNotification, { key: ada.key, query: { id: body.id } })
    expect((await remove()).status).toBe(204)
    expect(await list(shop)).toMatchObject({ total: 0, unreadCount: 0 })
    expect((await remove()).status).toBe(404)
    for (const id of ['no-id', newId(0)]) {
      expect((await shop.call(removeNotification, { query: { id } })).status).toBe(404)
    }
    expect((await shop.call(removeNotification)).status).toBe(400)
  })

  test('only one of two concurrent removals succeeds', async () => {
    const shop = await store(app)
    for (let round = 0; round < 5; round += 1) {
      const { body } = await shop.call(createNotification, { body: { title: 'once' } })
      const both = await Promise.all(
        [0, 1].map(() => shop.call(removeNotification, { query: { id: body.id } })),
      )
      expect(both.map((each) => each.status).sort()).toEqual([204, 404])
    }
  })
})

describe('POST /notifications/read', () => {
  test("marks it for the key's creator only, and a second time changes nothing", async () => {
    const shop = await store(app)
    const marco = await shop.person('member')
    await notify(await shop.context(), notice('quota'))
    const [before] = (await list(shop)).data
    const first = await shop.call(readNotification, { body: { id: before.id } })
    expect(first.status).toBe(200)
    const readAt = app.clock.now().toISOString()
    expect(first.body).toEqual({ ...before, isRead: true, readAt })
    await app.advance(60_000)
    // A Notification sent back is accepted.
    expect((await shop.call(readNotification, { body: first.body })).body).toEqual(first.body)
    expect(await list(shop)).toMatchObject({ unreadCount: 0, data: [{ isRead: true, readAt }] })
    expect(await list(shop, { key: marco.key })).toMatchObject({ unreadCount: 1, data: [{ isRead: false }] })
  })

  test('unknown, malformed and foreign ids are a 404; a missing id is a 400', async () => {
    const [shop, other] = [await store(app), await store(app)]
    const { body: theirs } = await other.call(createNotification, { body: { title: 'theirs' } })
    for (const id of [theirs.id, newId(0), 'x']) {
      expect((await shop.call(readNotification, { body: { id } })).status).toBe(404)
    }
    expect((await shop.call(readNotification, { body: {} })).status).toBe(400)
    expect((await shop.call(readNotification, { body: { id: 5 } })).status).toBe(400)
    expect((await shop.call(readNotification, { body: { id: theirs.id, other: 1 } })).status).toBe(400)
  })
})

test("another member's notification does not exist for this key", async () => {
  const shop = await store(app)
  const ada = await shop.person('agent')
  await notify(await shop.context(), notice('for Ada', { recipientIds: [ada.userId] }))
  const [{ id }] = (await list(shop, { key: ada.key })).data
  expect((await shop.call(readNotification, { body: { id } })).status).toBe(404)
  expect((await shop.call(removeNotification, { query: { id } })).status).toBe(404)
  expect((await shop.call(readAllNotifications)).body).toEqual({ updated: 0, unreadCount: 0 })
  expect((await shop.call(readNotification, { key: ada.key, body: { id } })).status).toBe(200)
})

describe('POST /notifications/read-all', () => {
  test('marks all existing notifications as read for this member only', async () => {
    const shop = await store(app)
    const ada = await shop.person('agent')
    const ctx = await shop.context()
    for (const title of ['one', 'two', 'three']) await notify(ctx, notice(title))
    await notify(ctx, notice('for Ada', { recipientIds: [ada.userId] }))
    const [{ id }] = (await list(shop)).data
    const { body: read } = await shop.call(readNotification, { body: { id } })
    await app.advance(1000)
    expect((await shop.call(readAllNotifications, { body: {} })).body).toEqual({ updated: 2, unreadCount: 0 })
    expect((await list(shop)).data.find((each: { id: string }) => each.id === id).readAt).toBe(read.readAt)
    expect((await shop.call(readAllNotifications)).body).toEqual({ updated: 0, unreadCount: 0 })
    expect(await list(shop, { key: ada.key })).toMatchObject({ unreadCount: 4 })
    expect((await shop.call(readAllNotifications, { body: { id } })).status).toBe(400)
  })

  test('one that arrives meanwhile stays unread', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    await notify(ctx, notice('before'))
    if (app.database.kind === 'pglite') {
      // PGlite has a single session, so it arrives before or after the whole call.
      await shop.call(readAllNotifications)
      await notify(ctx, notice('meanwhile'))
    } else {
      await ctx.transaction(async (tx) => {
        await notify(tx, notice('meanwhile'))
        const { body } = await shop.call(readAllNotifications)
        expect(body).toEqual({ updated: 1, unreadCount: 0 })
      })
    }
    expect(await list(shop)).toMatchObject({ unreadCount: 1 })
    expect(await titles(shop, { query: { isRead: false } })).toEqual(['meanwhile'])
  })

  test('concurrent calls do not fail while notifications are created and removed', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    for (let i = 0; i < 40; i += 1) await notify(ctx, notice(`n ${i}`))
    const ids = (await list(shop, { query: { limit: 10 } })).data.map((each: { id: string }) => each.id)
    const answers = await Promise.all([
      shop.call(readAllNotifications),
      shop.call(readAllNotifications),
      ...ids.map((id: string) => shop.call(removeNotification, { query: { id } })),
      shop.call(createNotification, { body: { title: 'new' } }),
    ])
    expect(answers.map((each) => each.status)).toEqual([200, 200, ...ids.map(() => 204), 201])
    const updated = answers[0]!.body.updated + answers[1]!.body.updated
    expect(updated).toBeGreaterThanOrEqual(30)
    expect(updated).toBeLessThanOrEqual(40)
    expect(await list(shop)).toMatchObject({ total: 31, unreadCount: 0 })
  })
})

test('a second notification with the same dedupe key is skipped', async () => {
  const [shop, other] = [await store(app), await store(app)]
  const ctx = await shop.context()
  const once = notice('once', { dedupeKey: 'quota-80:2026-11' })
  await Promise.all([notify(ctx, once), notify(ctx, once), notify(await other.context(), once)])
  expect(await titles(shop)).toEqual(['once'])
  expect(await titles(other)).toEqual(['once'])
})
