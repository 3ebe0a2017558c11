/** A platform that refuses, does not answer or answers too late, and a process that crashes: no half-written discount. */

import { beforeAll, describe, expect, test, vi } from 'vitest'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import deleteBundle from '#operations/promotions/bundles/api/delete-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import updateBundle from '#operations/promotions/bundles/api/update-bundle'
import createGift from '#operations/promotions/gifts/api/create-gift'
import deleteGift from '#operations/promotions/gifts/api/delete-gift'
import listGifts from '#operations/promotions/gifts/api/list-gifts'
import updateGift from '#operations/promotions/gifts/api/update-gift'
import { discountsSync } from '#operations/promotions/handles'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import deletePromotion from '#operations/promotions/promotions/api/delete-promotion'
import listPromotions from '#operations/promotions/promotions/api/list-promotions'
import setActive from '#operations/promotions/promotions/api/set-promotion-active'
import updatePromotion from '#operations/promotions/promotions/api/update-promotion'
import { Refused } from '#runtime/ports/errors'
import { type TestApp, testApp } from '#test/support/app'
import { type DiscountShop, discountStore, holdAnswer, minute, replaceMethod } from '#test/support/discounts'
import { refused } from '#test/support/refused'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.setClock('2026-11-20T12:00:00.000Z')
})

const kinds = [
  {
    kind: 'promotion',
    create: createPromotion,
    update: updatePromotion,
    remove: deletePromotion,
    list: listPromotions,
    body: (shop: DiscountShop, change: object) => shop.promotion(change),
  },
  {
    kind: 'bundle',
    create: createBundle,
    update: updateBundle,
    remove: deleteBundle,
    list: listBundles,
    body: (shop: DiscountShop, change: object) => shop.bundle(change),
  },
  {
    kind: 'gift',
    create: createGift,
    update: updateGift,
    remove: deleteGift,
    list: listGifts,
    body: (shop: DiscountShop, change: object) => shop.gift(change),
  },
] as const

describe.each(kinds)('a failed call to the platform: $kind', ({ create, update, remove, list, body }) => {
  const first = async (shop: DiscountShop) => (await shop.call(list)).body.data[0]

  test('an unanswered POST creates nothing and can be retried at once', async () => {
    const shop = await discountStore(app)
    for (const _try of [1, 2]) {
      const { status } = await shop.call(create, { body: body(shop, { name: 'X FAIL-DOWN' }) })
      expect(status).toBe(503)
      expect((await shop.call(list)).body.total).toBe(0)
    }
    // Stored there without an answer: an hour later it is gone.
    expect((await shop.call(create, { body: body(shop, { name: 'X FAIL-TIMEOUT' }) })).status).toBe(503)
    expect(await shop.heldTitles()).toEqual(['X FAIL-TIMEOUT'])
    await app.advance(minute)
    await app.drainJobs()
    expect(await shop.heldTitles()).toEqual([])
    expect((await shop.call(list)).body.total).toBe(0)
  })

  test('a refusal is answered with its reason and leaves nothing behind', async () => {
    const shop = await discountStore(app)
    const answer = await shop.call(create, { body: body(shop, { name: 'X FAIL-REFUSE' }) })
    expect(answer).toMatchObject(refused(409, 'The platform does not take a discount'))
    const made = await shop.call(create, { body: body(shop, { name: 'X' }) })
    const renamed = await shop.call(update, {
      params: { id: made.body.id },
      body: { name: 'X FAIL-REFUSE' },
    })
    expect(renamed.status).toBe(409)
    expect(await first(shop)).toMatchObject({ name: 'X', syncStatus: 'synced' })
    // Nothing is under way: the next change goes through at once.
    expect((await shop.call(update, { params: { id: made.body.id }, body: { name: 'Y' } })).status).toBe(200)
    expect(await shop.heldTitles()).toEqual(['Y'])
  })

  test('a throttling platform is 503, and the next attempt succeeds at once', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(create, { body: body(shop, { name: 'X' }) })
    const params = { id: made.body.id }
    expect((await shop.call(update, { params, body: { name: 'X FAIL-BUSY' } })).status).toBe(503)
    expect(await first(shop)).toMatchObject({ name: 'X', syncStatus: 'synced' })
    expect((await shop.call(update, { params, body: { name: 'Y' } })).status).toBe(200)
  })

  test('a PATCH whose answer is lost leaves the old state, pending, and the platform is brought back to it', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(create, { body: body(shop, { name: 'A' }) })
    const params = { id: made.body.id }
    expect((await shop.call(update, { params, body: { name: 'X FAIL-TIMEOUT' } })).status).toBe(503)
    expect(await shop.heldTitles()).toEqual(['X FAIL-TIMEOUT'])
    expect(await first(shop)).toMatchObject({ name: 'A', syncStatus: 'pending' })
    const atOnce = await shop.call(update, { params, body: { name: 'B' } })
    expect(atOnce).toMatchObject(refused(409, 'minute'))
    expect((await shop.call(remove, { params })).status).toBe(409)
    await app.advance(minute)
    await app.drainJobs()
    expect(await shop.held()).toMatchObject([{ revision: 3, spec: { title: 'A' } }])
    expect(await first(shop)).toMatchObject({ name: 'A', syncStatus: 'synced' })
    expect((await shop.call(update, { params, body: { name: 'B' } })).status).toBe(200)
    expect(await shop.held()).toMatchObject([{ revision: 4, spec: { title: 'B' } }])
  })

  test('after a minute another change takes over, before the job has run', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(create, { body: body(shop, { name: 'A' }) })
    const params = { id: made.body.id }
    await shop.call(update, { params, body: { name: 'X FAIL-TIMEOUT' } })
    await app.advance(minute)
    expect((await shop.call(update, { params, body: { name: 'C' } })).status).toBe(200)
    await app.drainJobs()
    expect(await shop.heldTitles()).toEqual(['C'])
    expect(await first(shop)).toMatchObject({ name: 'C', syncStatus: 'synced' })
  })

  test('a crash during a POST leaves nothing on either side; a late answer changes nothing', async () => {
    const shop = await discountStore(app)
    const held = holdAnswer(app, 'putDiscount')
    const late = shop.call(create, { body: body(shop, { name: 'A' }) })
    await held.reached
    expect(await shop.heldTitles()).toEqual(['A'])
    expect((await shop.call(list)).body.total).toBe(0)
    // The reservation holds its name for a minute.
    expect((await shop.call(create, { body: body(shop, { name: 'a' }) })).status).toBe(409)
    await app.advance(minute)
    await app.drainJobs()
    await app.drainJobs()
    expect(await shop.held()).toEqual([])
    held.letGo()
    expect((await late).status).toBe(503)
    expect((await shop.call(list)).body.total).toBe(0)
    expect(await shop.held()).toEqual([])
    expect((await shop.call(create, { body: body(shop, { name: 'a' }) })).status).toBe(201)
  })

  test('a crash during a DELETE leaves both sides; a second DELETE removes both', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(create, { body: body(shop, { name: 'A' }) })
    const params = { id: made.body.id }
    const held = holdAnswer(app, 'removeDiscount')
    const late = shop.call(remove, { params })
    await held.reached
    expect(await shop.held()).toEqual([])
    expect(await first(shop)).toMatchObject({ name: 'A', syncStatus: 'pending' })
    await app.advance(minute)
    await app.drainJobs()
    expect(await shop.heldTitles()).toEqual(['A'])
    expect(await first(shop)).toMatchObject({ name: 'A', syncStatus: 'synced' })
    held.letGo()
    expect((await late).status).toBe(503)
    await app.drainJobs()
    expect(await shop.heldTitles()).toEqual(['A'])
    expect((await shop.call(remove, { params })).status).toBe(204)
    expect(await shop.held()).toEqual([])
  })

  test('an unanswered removal leaves both sides', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(create, { body: body(shop, { name: 'X FAIL-REMOVE' }) })
    expect((await shop.call(remove, { params: { id: made.body.id } })).status).toBe(503)
    await app.advance(minute)
    await app.drainJobs()
    expect(await first(shop)).toMatchObject({ syncStatus: 'synced' })
    expect(await shop.heldTitles()).toEqual(['X FAIL-REMOVE'])
  })

  test('during an outage of the platform the job retries and the change waits', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(create, { body: body(shop, { name: 'A' }) })
    await shop.setDown(true)
    const { status } = await shop.call(update, {
      params: { id: made.body.id },
      body: { name: 'B', endsAt: '2027-01-01T00:00:00.000Z' },
    })
    expect(status).toBe(503)
    await app.advance(minute)
    await app.drainJobs({ allowFailures: true })
    expect(await first(shop)).toMatchObject({ name: 'A', endsAt: null })
    await shop.setDown(false)
    await app.advance(10 * minute)
    await app.drainJobs()
    expect(await first(shop)).toMatchObject({ name: 'A', syncStatus: 'synced' })
    expect(await shop.held()).toMatchObject([{ spec: { title: 'A', endsAt: null } }])
  })
})

describe('concurrent writes', () => {
  test('a change during another one is refused, and neither is lost', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(createPromotion, { body: shop.promotion({ name: 'A' }) })
    const params = { id: made.body.id }
    const held = holdAnswer(app, 'putDiscount')
    const slow = shop.call(updatePromotion, { params, body: { name: 'B' } })
    await held.reached
    expect((await shop.call(updatePromotion, { params, body: { maxSetsPerOrder: 2 } })).status).toBe(409)
    expect((await shop.call(setActive, { params, body: { isActive: false } })).status).toBe(409)
    // Its new name is reserved, and it keeps its old one until the change is saved.
    expect(
      (await shop.call(createPromotion, { body: shop.promotion({ name: 'b', isActive: false }) })).status,
    ).toBe(409)
    held.letGo()
    expect(await slow).toMatchObject({ status: 200, body: { name: 'B', maxSetsPerOrder: null } })
    expect(await shop.held()).toMatchObject([{ revision: 2, spec: { title: 'B' } }])
  })

  test('twenty concurrent POSTs with one name create one', async () => {
    const shop = await discountStore(app)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.call(createPromotion, { body: shop.promotion() })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
    expect(await shop.held()).toHaveLength(1)
  })
})

describe('other answers of a platform', () => {
  test('a refusal that names a field is a 400', async () => {
    const shop = await discountStore(app)
    const restore = replaceMethod(app, 'putDiscount', async () => {
      throw new Refused('too-many-units', 'buyQuantity: must be at most 10 on this platform')
    })
    const answer = await shop.call(createPromotion, { body: shop.promotion() })
    restore()
    expect(answer).toMatchObject(refused(400, /^buyQuantity: must be at most 10 on this platform$/))
  })

  test('an unsupported kind and an exceeded limit are refused before anything is written', async () => {
    const shop = await discountStore(app)
    const restoreKinds = replaceMethod(app, 'discountCapabilities', async () => ({
      kinds: ['bundle'],
      maxLive: 1,
    }))
    const promotion = await shop.call(createPromotion, { body: shop.promotion() })
    expect(promotion).toMatchObject(refused(409, 'cannot apply'))
    expect((await shop.call(createBundle, { body: shop.bundle() })).status).toBe(201)
    const second = await shop.call(createBundle, { body: shop.bundle({ name: 'Two' }) })
    expect(second).toMatchObject(refused(409, 'at most 1'))
    restoreKinds()
    expect(await shop.held()).toHaveLength(1)
  })

  test('a refused reconciliation is shown, and notified once', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(createPromotion, { body: shop.promotion({ name: 'A' }) })
    await shop.call(updatePromotion, { params: { id: made.body.id }, body: { name: 'X FAIL-TIMEOUT' } })
    const restore = replaceMethod(app, 'putDiscount', async () => {
      throw new Refused('closed', 'The shop is closed for holidays')
    })
    await app.advance(minute)
    await app.drainJobs()
    restore()
    expect((await shop.call(listPromotions)).body.data[0]).toMatchObject({
      name: 'A',
      syncStatus: 'failed',
      syncError: 'The shop is closed for holidays',
    })
    const notices = (await shop.request('GET', '/notifications')).body.data
    expect(notices.filter((each: { type: string }) => each.type === 'discount-refused')).toHaveLength(1)
    await (await shop.context()).queue(discountsSync, {})
    await app.drainJobs()
    expect((await shop.call(listPromotions)).body.data[0]).toMatchObject({
      syncStatus: 'synced',
      syncError: null,
    })
    expect(await shop.heldTitles()).toEqual(['A'])
  })

  test('an answer after ten seconds counts as none', async () => {
    const shop = await discountStore(app)
    const restore = replaceMethod(app, 'putDiscount', () => new Promise(() => undefined))
    // Ten seconds pass in a tenth of one.
    const { setTimeout } = globalThis
    const timers = vi
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((act: () => void, ms: number) =>
        setTimeout(act, ms === 10_000 ? 100 : ms)) as typeof setTimeout)
    const { status } = await shop.call(createPromotion, { body: shop.promotion() })
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(10_000)
    timers.mockRestore()
    restore()
    expect(status).toBe(503)
    expect((await shop.call(listPromotions)).body.total).toBe(0)
  })
})
