import { beforeAll, describe, expect, test } from 'vitest'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import createGift from '#operations/promotions/gifts/api/create-gift'
import { discountsSync } from '#operations/promotions/handles'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import listPromotions from '#operations/promotions/promotions/api/list-promotions'
import setActive from '#operations/promotions/promotions/api/set-promotion-active'
import updatePromotion from '#operations/promotions/promotions/api/update-promotion'
import { putDiscount, recordUsage, removeDiscount } from '#operations/store/ecommerce/sandbox-discounts'
import { notifyEntitlementChanged } from '#operations/store/index'
import { Refused } from '#runtime/ports/errors'
import { type TestApp, testApp } from '#test/support/app'
import { type DiscountShop, discountStore, holdAnswer, minute, replaceMethod } from '#test/support/discounts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.setClock('2026-11-20T12:00:00.000Z')
})

const sync = async (shop: DiscountShop) => {
  await (await shop.context()).queue(discountsSync, {})
  await app.drainJobs()
}
const first = async (shop: DiscountShop) => (await shop.call(listPromotions)).body.data[0]

describe('discounts-sync', () => {
  test('puts missing discounts, repairs different ones, removes orphans; a second run changes nothing', async () => {
    const shop = await discountStore(app)
    for (const name of ['A', 'B']) await shop.call(createPromotion, { body: shop.promotion({ name }) })
    const [a, b] = await shop.held()
    await removeDiscount(shop.platform, a!.reference, 10_000)
    await putDiscount(shop.platform, { ...b!.spec, title: 'Hand-made', revision: 10 })
    await putDiscount(shop.platform, { ...b!.spec, reference: `promotion:${shop.id}`, title: 'Orphan' })
    await sync(shop)
    expect(await shop.heldTitles()).toEqual(['A', 'B'])
    expect(await first(shop)).toMatchObject({ name: 'B', syncStatus: 'synced' })
    const before = await shop.held()
    await sync(shop)
    expect(await shop.held()).toEqual(before)
  })

  test('removes ended discounts and puts reactivated ones back', async () => {
    const shop = await discountStore(app)
    const { body } = await shop.call(createPromotion, {
      body: shop.promotion({ endsAt: '2026-11-20T13:00:00.000Z' }),
    })
    await app.setClock('2026-11-20T13:00:00.000Z')
    expect(await shop.held()).toHaveLength(1)
    await sync(shop)
    expect(await shop.held()).toEqual([])
    expect(await first(shop)).toMatchObject({ status: 'ended', syncStatus: 'none' })
    await shop.call(updatePromotion, { params: { id: body.id }, body: { endsAt: null } })
    expect(await shop.held()).toHaveLength(1)
    await app.setClock('2026-11-20T12:00:00.000Z')
  })

  test('reads the usage of each discount', async () => {
    const shop = await discountStore(app)
    const { body } = await shop.call(createPromotion, { body: shop.promotion() })
    await recordUsage(shop.platform, `promotion:${body.id}`, {
      orders: 41,
      total: '3180.40',
      currency: 'BRL',
    })
    await sync(shop)
    expect(await first(shop)).toMatchObject({
      usageCount: 41,
      discountTotal: 3180.4,
      updatedAt: body.updatedAt,
    })
  })

  test('removes discounts that plan or subscription do not allow, and puts them back later', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(createPromotion, { body: shop.promotion({ name: 'A' }) })
    await shop.call(createBundle, { body: shop.bundle() })
    await shop.call(createGift, { body: shop.gift() })
    expect(await shop.held()).toHaveLength(3)
    const subscribed = async (change: object) => {
      await app.database.root
        .updateTable('subscriptions')
        .set(change)
        .where('store_id', '=', shop.id)
        .execute()
      await app.services.accessChanged(shop.id)
      await (await shop.context()).transaction((tx) => notifyEntitlementChanged(tx))
      await app.drainJobs()
    }
    await subscribed({ plan_id: 'starter' })
    expect(await shop.held()).toEqual([])
    expect((await shop.call(listPromotions)).status).toBe(403)
    await subscribed({ plan_id: 'scale' })
    expect(await shop.held()).toHaveLength(3)
    await subscribed({ status: 'paused', paused_at: app.clock.now() })
    expect(await shop.held()).toEqual([])
    expect(await first(shop)).toMatchObject({ isActive: true, status: 'active', syncStatus: 'suspended' })
    const refused = await shop.call(setActive, { params: { id: made.body.id }, body: { isActive: false } })
    expect(refused.status).toBe(403)
    await subscribed({ status: 'active', paused_at: null })
    expect(await first(shop)).toMatchObject({ syncStatus: 'synced', updatedAt: made.body.updatedAt })
    expect(await shop.held()).toHaveLength(3)
  })

  test('a discount that the platform refuses is failed, notified once, and retried', async () => {
    const shop = await discountStore(app)
    await shop.call(createPromotion, { body: shop.promotion() })
    const [held] = await shop.held()
    await removeDiscount(shop.platform, held!.reference, held!.revision)
    const restore = replaceMethod(app, 'putDiscount', async () => {
      throw new Refused('limit', 'You have too many discounts')
    })
    await sync(shop)
    await sync(shop)
    restore()
    expect(await first(shop)).toMatchObject({
      syncStatus: 'failed',
      syncError: 'You have too many discounts',
    })
    const notices = (await shop.request('GET', '/notifications')).body.data
    expect(notices.filter((each: { type: string }) => each.type === 'discount-refused')).toHaveLength(1)
    await sync(shop)
    expect(await first(shop)).toMatchObject({ syncStatus: 'synced', syncError: null })
  })

  test('skips discounts with a write under way', async () => {
    const shop = await discountStore(app)
    const held = holdAnswer(app, 'putDiscount')
    const slow = shop.call(createPromotion, { body: shop.promotion() })
    await held.reached
    await sync(shop)
    expect(await shop.held()).toHaveLength(1)
    held.letGo()
    expect((await slow).status).toBe(201)
    expect(await shop.held()).toHaveLength(1)
  })

  test('requeues a change whose job was given up', async () => {
    const shop = await discountStore(app)
    const { body } = await shop.call(createPromotion, { body: shop.promotion({ name: 'A' }) })
    await shop.call(updatePromotion, { params: { id: body.id }, body: { name: 'B FAIL-TIMEOUT' } })
    await app.database.query(`delete from pgboss.job where data->>'job' = 'discount-reconcile'`, [])
    await app.advance(minute)
    await sync(shop)
    expect(await shop.heldTitles()).toEqual(['A'])
    expect(await first(shop)).toMatchObject({ name: 'A', syncStatus: 'synced' })
  })
})
