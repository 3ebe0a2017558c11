import { beforeAll, describe, expect, test } from 'vitest'
import exportWishlist from '#operations/product-page/wishlist/api/export-wishlist'
import getAnalytics from '#operations/product-page/wishlist/api/get-analytics'
import getSettings from '#operations/product-page/wishlist/api/get-settings'
import saveSettings from '#operations/product-page/wishlist/api/save-settings'
import { dayMs } from '#runtime/durations'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { type TestApp, testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { readRows } from '#test/support/rows'
import { type SentEvent, sendEvents, someVisitor, visit } from '#test/support/storefront'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const noon = '2026-11-20T12:00:00.000Z'

async function wishShop(options: Parameters<typeof connectedStore>[1] = {}) {
  await app.setClock(noon)
  return connectedStore(app, options)
}
const add = (productId: string, variantId?: string): SentEvent => ({
  ...{ type: 'wishlist-add', widget: 'wishlist', productId },
  ...(variantId ? { variantId } : {}),
})
const remove = (productId: string): SentEvent => ({ type: 'wishlist-remove', widget: 'wishlist', productId })
const contact = (who: object): SentEvent => ({
  type: 'wishlist-contact',
  widget: 'wishlist',
  contact: { consent: true, ...who },
})
const analytics = async (shop: ConnectedShop, query: Record<string, string | number> = {}) => {
  const { status, body } = await shop.call(getAnalytics, { query })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const totals = async (shop: ConnectedShop, query = {}) => (await analytics(shop, query)).totals

describe('settings', () => {
  test('settings have defaults, and shoppers get them once the wishlist is on', async () => {
    const shop = await wishShop()
    expect((await shop.call(getSettings)).body).toMatchObject({
      ...{ isEnabled: false, allowGuests: true, askContact: 'optional', contactFields: ['email'] },
      ...{ icon: 'heart', addText: 'Add to wishlist', shareEnabled: true, updatedAt: null },
    })
    expect((await visit(shop, '/widgets')).body.wishlist).toBeUndefined()
    const saved = await shop.call(saveSettings, { body: { isEnabled: true, addText: 'Quero' } })
    expect(saved.body).toMatchObject({ isEnabled: true, addText: 'Quero', icon: 'heart' })
    const shown = (await visit(shop, '/widgets')).body.wishlist
    expect(shown.settings).toMatchObject({ addText: 'Quero' })
    expect(shown.settings).not.toHaveProperty('updatedAt')
  })
})

describe('wishes', () => {
  test('two adds, a remove and a re-add are counted', async () => {
    const [shop, other] = [await wishShop(), await wishShop()]
    const visitorId = someVisitor()
    const events = [add('1001'), add('1002'), remove('1001'), add('1001')]
    expect((await sendEvents(shop, events, { visitorId })).status).toBe(204)
    expect(await totals(shop)).toEqual({
      ...{ adds: 3, removes: 1, shoppers: 1, contacts: 0, activeItems: 2 },
      ...{ addsToCart: 0, purchases: 0, revenue: 0 },
    })
    expect((await totals(other)).adds).toBe(0)
    // Adding a wished product and removing a missing one count nothing.
    await sendEvents(shop, [add('1002'), add('1001', '2001'), remove('1003')], { visitorId })
    expect(await totals(shop)).toMatchObject({ adds: 4, removes: 1, activeItems: 3 })
  })

  test('a duplicate event counts once; unknown products and stores without the plan count nothing', async () => {
    const shop = await wishShop()
    const visitorId = someVisitor()
    const once = { ...add('1001'), id: crypto.randomUUID() }
    await sendEvents(shop, [once], { visitorId })
    await sendEvents(shop, [remove('1001')], { visitorId })
    await sendEvents(shop, [once, add('sandbox-missing'), add('1001', 'none')], { visitorId })
    expect(await totals(shop)).toMatchObject({ adds: 1, removes: 1, activeItems: 0 })
    const starter = await wishShop({ plan: 'starter' })
    expect((await sendEvents(starter, [add('1001')])).status).toBe(204)
    const kept = await readRows(starter, 'wishes', ['id'])
    expect(kept).toEqual([])
  })

  test('a visitor has at most 200 wishes', async () => {
    const shop = await wishShop()
    const visitorId = someVisitor()
    await app.database.root
      .insertInto('wishes')
      .values(
        Array.from({ length: 199 }, (_, at) => ({
          store_id: shop.id,
          id: crypto.randomUUID(),
          visitor_id: visitorId,
          product_id: `p-${at}`,
          added_at: app.clock.now(),
        })),
      )
      .execute()
    await sendEvents(shop, [add('1001'), add('1002')], { visitorId })
    expect(await totals(shop)).toMatchObject({ adds: 200, activeItems: 200 })
    await sendEvents(shop, [remove('1001'), add('1002')], { visitorId })
    expect(await totals(shop)).toMatchObject({ adds: 201, removes: 1, activeItems: 200 })
  })

  test('two tabs that add a product at once add it once', async () => {
    const shop = await wishShop()
    const visitorId = someVisitor()
    await Promise.all(Array.from({ length: 6 }, () => sendEvents(shop, [add('1001')], { visitorId })))
    expect(await totals(shop)).toMatchObject({ adds: 1, activeItems: 1, shoppers: 1 })
  })
})

describe('analytics', () => {
  test('days are in the store’s time zone, zeros included; products are sorted by adds, then by current wishes', async () => {
    const shop = await wishShop()
    await app.setClock('2026-11-21T02:30:00.000Z')
    const [a, b] = [someVisitor(), someVisitor()]
    await sendEvents(shop, [add('1001'), add('1002')], { visitorId: a })
    await sendEvents(shop, [add('1001')], { visitorId: b })
    await app.setClock('2026-11-22T12:00:00.000Z')
    await sendEvents(shop, [remove('1001'), add('1001', '2002')], { visitorId: b })
    await sendEvents(shop, [{ type: 'cart-add', widget: 'wishlist', productId: '1002' }], { visitorId: a })
    const body = await analytics(shop, { startDate: '2026-11-20', endDate: '2026-11-22' })
    expect(body.series).toEqual([
      { date: '2026-11-20', adds: 3, removes: 0 },
      { date: '2026-11-21', adds: 0, removes: 0 },
      { date: '2026-11-22', adds: 1, removes: 1 },
    ])
    expect(body.products).toEqual([
      {
        ...{ productId: '1001', name: 'Caneca', imageUrl: null, adds: 3, removes: 1, shoppers: 2 },
        ...{ currentlyWished: 2, addsToCart: 0, purchases: 0 },
      },
      {
        ...{ productId: '1002', name: 'Avental', imageUrl: null, adds: 1, removes: 0, shoppers: 1 },
        ...{ currentlyWished: 1, addsToCart: 1, purchases: 0 },
      },
    ])
    expect(body.totals).toMatchObject({ adds: 4, removes: 1, shoppers: 2, activeItems: 3, addsToCart: 1 })
    const later = await analytics(shop, { startDate: '2026-11-21', endDate: '2026-11-21', limit: 1 })
    expect(later.totals).toMatchObject({ adds: 0, removes: 0, shoppers: 0, activeItems: 3 })
    expect(later.products).toMatchObject([{ productId: '1001', adds: 0, currentlyWished: 2 }])
    const empty = await wishShop()
    expect((await analytics(empty)).series).toHaveLength(30)
    const query = { startDate: '2025-11-20', endDate: '2026-11-20' }
    expect((await shop.call(getAnalytics, { query })).status).toBe(400)
    expect((await shop.call(exportWishlist, { query })).status).toBe(400)
  })

  test('a purchase counts for the contact and product, after the add, within 30 days, once per order and product', async () => {
    const shop = await wishShop()
    const visitorId = someVisitor()
    const ana = { email: 'Ana@Example.com', phone: '11 98888-7777' }
    await sendEvents(shop, [add('1002'), contact(ana)], { visitorId })
    await sendEvents(shop, [add('1002'), contact({ email: 'ana@example.com' })])
    const paid = { paymentStatus: 'paid' } as const
    const buy = (input: Parameters<ConnectedShop['sell']>[0]) => shop.sell({ ...paid, ...input })
    await app.advance(1000)
    // 1002 twice on one order, with a product that nobody wished for.
    await buy({
      customer: { name: 'Ana', email: 'ana@example.com', phone: null },
      items: [
        { variantId: '2003', quantity: 2 },
        { variantId: '2002', quantity: 1 },
      ],
    })
    await buy({ customer: { name: 'Ana', email: null, phone: '+5511988887777' } })
    await shop.sell({
      paymentStatus: 'pending',
      customer: { name: 'Ana', email: 'ana@example.com', phone: null },
    })
    await buy({ customer: { name: 'Bia', email: 'bia@example.com', phone: null } })
    expect(await totals(shop)).toMatchObject({ contacts: 2, purchases: 2, revenue: 300 })
    expect((await analytics(shop)).products).toMatchObject([{ productId: '1002', purchases: 2 }])
    await app.advance(29 * dayMs)
    await buy({ customer: { name: 'Ana', email: 'ana@example.com', phone: null } })
    await app.advance(2 * dayMs)
    await buy({ customer: { name: 'Ana', email: 'ana@example.com', phone: null } })
    const day = '2026-12-19'
    expect(await totals(shop, { startDate: day, endDate: day })).toMatchObject({ adds: 0, purchases: 1 })
    expect((await totals(shop, { startDate: '2026-11-20', endDate: '2026-12-31' })).purchases).toBe(3)
  })
})

describe('the export', () => {
  const mails = (shop: ConnectedShop) => listSandboxMail(app.database.root as never, { to: shop.email })

  test('the export is one email with one row per contact, without formulas, and skips visitors without a contact', async () => {
    const shop = await wishShop()
    const [a, b] = [someVisitor(), someVisitor()]
    await sendEvents(shop, [add('1002'), add('1001'), contact({ email: 'ana@example.com', name: '=1+1' })], {
      visitorId: a,
    })
    await app.advance(60_000)
    await sendEvents(shop, [add('1001'), contact({ email: 'ANA@example.com', consent: false })], {
      visitorId: b,
    })
    await sendEvents(shop, [add('1001')])
    await sendEvents(shop, [contact({ email: 'no address' })])
    const asked = await shop.call(exportWishlist)
    expect(asked.status).toBe(202)
    expect(asked.body).toEqual({ jobId: expect.any(String), status: 'queued', email: shop.email })
    await app.drainJobs()
    const [mail, ...others] = await mails(shop)
    expect(others).toEqual([])
    expect(readCsv(mail!).split('\r\n').slice(0, -1)).toEqual([
      '\ufeffemail,phone,name,products,productCount,firstAddedAt,lastAddedAt,consent',
      `ANA@example.com,,'=1+1,"Avental; Caneca",2,2026-11-20T09:00:00-03:00,2026-11-20T09:01:00-03:00,false`,
    ])
  })

  test('a date range filters by the last add', async () => {
    const shop = await wishShop()
    await sendEvents(shop, [add('1001'), contact({ phone: '11 98888-7777' })])
    await app.advance(3 * dayMs)
    await sendEvents(shop, [add('1001'), contact({ email: 'bia@example.com' })])
    await shop.call(exportWishlist, { query: { startDate: '2026-11-19', endDate: '2026-11-21' } })
    await app.drainJobs()
    const rows = readCsv((await mails(shop))[0]!)
      .split('\r\n')
      .slice(1, -1)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toContain('+5511988887777')
  })
})

const readCsv = ({ attachments }: Awaited<ReturnType<typeof listSandboxMail>>[number]): string =>
  Buffer.from(attachments[0]!.content).toString()
