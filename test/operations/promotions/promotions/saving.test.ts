import { beforeAll, describe, expect, test } from 'vitest'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import deletePromotion from '#operations/promotions/promotions/api/delete-promotion'
import getSettings from '#operations/promotions/promotions/api/get-settings'
import listPromotions from '#operations/promotions/promotions/api/list-promotions'
import saveSettings from '#operations/promotions/promotions/api/save-settings'
import setActive from '#operations/promotions/promotions/api/set-promotion-active'
import updatePromotion from '#operations/promotions/promotions/api/update-promotion'
import { putCategory } from '#operations/store/ecommerce/sandbox-catalog'
import { changeSandboxProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { type TestApp, testApp } from '#test/support/app'
import { discountStore } from '#test/support/discounts'
import { refused } from '#test/support/refused'
import { store } from '#test/support/store'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const at = '2026-11-20T12:00:00.000Z'
const tomorrow = '2026-11-21T12:00:00.000Z'

describe('promotions', () => {
  test('a promotion is created with a unique name, paused twice and deleted', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(createPromotion, {
      body: { name: ' Leve 3 ', buyQuantity: 3, payQuantity: 2 },
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'Leve 3',
      label: '3x2',
      status: 'active',
      syncStatus: 'synced',
      syncError: null,
      isActive: true,
      scope: 'all',
      categoryIds: [],
      productIds: [],
      excludedProductIds: [],
      discountPercentage: 100,
      mixing: 'any',
      maxSetsPerOrder: null,
      startsAt: null,
      endsAt: null,
      combinesWith: { promotions: false, coupons: false },
      usageCount: 0,
      discountTotal: 0,
      currency: 'BRL',
    })
    expect(made.body.syncedAt).not.toBeNull()
    expect(await shop.held()).toMatchObject([
      {
        reference: `promotion:${made.body.id}`,
        spec: { kind: 'quantity', title: 'Leve 3', buyQuantity: 3, payQuantity: 2 },
      },
    ])
    expect(await shop.call(createPromotion, { body: shop.promotion({ name: 'LEVE 3' }) })).toMatchObject(
      refused(409, 'name:'),
    )
    const wrong = await shop.call(createPromotion, { body: shop.promotion({ name: 'x', payQuantity: 3 }) })
    expect(wrong).toMatchObject(refused(400, 'payQuantity'))

    const { id } = made.body
    const paused = await shop.call(setActive, { params: { id }, body: { isActive: false } })
    expect(paused.body).toMatchObject({ status: 'paused', syncStatus: 'none', isActive: false })
    expect(await shop.held()).toEqual([])
    await app.advance(5)
    const same = await shop.call(setActive, { params: { id }, body: { isActive: false } })
    expect(same.status).toBe(200)
    expect(same.body.updatedAt).toBe(paused.body.updatedAt)
    expect((await shop.call(deletePromotion, { params: { id } })).status).toBe(204)
  })

  test('the label contains a percentage below 100; sending back a read changes nothing', async () => {
    const shop = await discountStore(app)
    const { body } = await shop.call(createPromotion, {
      body: shop.promotion({
        buyQuantity: 2,
        payQuantity: 1,
        discountPercentage: 50,
        combinesWith: { coupons: true },
      }),
    })
    expect(body).toMatchObject({ label: '2x1 -50%', combinesWith: { promotions: false, coupons: true } })
    await app.advance(5)
    const same = await shop.call(updatePromotion, { params: { id: body.id }, body })
    expect(same.body).toEqual(body)
    const changed = await shop.call(updatePromotion, {
      params: { id: body.id },
      body: { ...body, isActive: false, combinesWith: { promotions: true }, maxSetsPerOrder: 2 },
    })
    expect(changed.body).toMatchObject({
      isActive: true,
      combinesWith: { promotions: true, coupons: true },
      maxSetsPerOrder: 2,
      syncStatus: 'synced',
    })
    expect(await shop.held()).toMatchObject([{ revision: 2, spec: { maxSetsPerOrder: 2 } }])
  })

  test('a paused promotion is not on the platform and is renamed without it', async () => {
    const shop = await discountStore(app)
    const { body } = await shop.call(createPromotion, { body: shop.promotion({ isActive: false }) })
    expect(body).toMatchObject({ status: 'paused', syncStatus: 'none', syncedAt: null })
    await shop.setDown(true)
    const renamed = await shop.call(updatePromotion, { params: { id: body.id }, body: { name: 'Outro' } })
    expect(renamed).toMatchObject({ status: 200, body: { name: 'Outro', syncStatus: 'none' } })
    const active = await shop.call(setActive, { params: { id: body.id }, body: { isActive: true } })
    expect(active.status).toBe(503)
    expect((await shop.call(listPromotions)).body.data[0].status).toBe('paused')
    await shop.setDown(false)
  })

  test('products and categories must exist when added, and may be gone when sent back', async () => {
    const shop = await discountStore(app)
    await putCategory(shop.platform, { id: '301', name: 'Casa' })
    const targeted = (change: object) =>
      shop.call(createPromotion, { body: shop.promotion({ name: JSON.stringify(change), ...change }) })
    expect((await targeted({ scope: 'products' })).status).toBe(400)
    expect((await targeted({ scope: 'products', productIds: ['sandbox-down'] })).status).toBe(503)
    const { status, body } = await targeted({ scope: 'products', productIds: ['1001'], categoryIds: ['301'] })
    expect(status).toBe(201)
    expect(body).toMatchObject({ productIds: ['1001'], categoryIds: [] })

    await changeSandboxProduct(shop.platform, '1001', { isDeleted: true })
    const back = await shop.call(updatePromotion, {
      params: { id: body.id },
      body: { ...body, maxSetsPerOrder: 3 },
    })
    expect(back).toMatchObject({ status: 200, body: { productIds: ['1001'], maxSetsPerOrder: 3 } })
    await shop.call(setActive, { params: { id: body.id }, body: { isActive: false } })
    const gone = await shop.call(setActive, { params: { id: body.id }, body: { isActive: true } })
    expect(gone).toMatchObject(refused(409, 'products'))
  })

  test('a store without a platform gets a clear refusal', async () => {
    const shop = await store(app)
    const body = { name: 'a', buyQuantity: 3, payQuantity: 2 }
    expect((await shop.call(createPromotion, { body })).status).toBe(409)
    expect((await shop.call(createPromotion, { body: { ...body, isActive: false } })).status).toBe(201)
  })

  test('a promotion ends at endsAt, and a later end makes it active again', async () => {
    await app.setClock(at)
    const shop = await discountStore(app)
    const { body } = await shop.call(createPromotion, { body: shop.promotion({ endsAt: tomorrow }) })
    const status = async () => (await shop.call(listPromotions)).body.data[0].status
    await app.setClock('2026-11-21T11:59:59.999Z')
    expect(await status()).toBe('active')
    await app.setClock(tomorrow)
    expect((await shop.call(listPromotions)).body.data[0]).toMatchObject({
      status: 'ended',
      syncStatus: 'none',
    })
    const paused = await shop.call(setActive, { params: { id: body.id }, body: { isActive: false } })
    expect(paused).toMatchObject({ status: 200, body: { status: 'ended', isActive: false } })
    const again = await shop.call(setActive, { params: { id: body.id }, body: { isActive: true } })
    expect(again).toMatchObject(refused(409, 'endsAt'))
    const patch = (endsAt: string) =>
      shop.call(updatePromotion, { params: { id: body.id }, body: { endsAt } })
    expect((await patch('2026-11-21T11:00:00.000Z')).status).toBe(400)
    expect((await patch('2026-11-22T12:00:00.000Z')).body.status).toBe('paused')
    const active = await shop.call(setActive, { params: { id: body.id }, body: { isActive: true } })
    expect(active.body).toMatchObject({ status: 'active', syncStatus: 'synced' })
    expect(await shop.held()).toMatchObject([{ spec: { endsAt: '2026-11-22T12:00:00.000Z' } }])
  })

  test('crossed, past and invalid dates are refused by their field', async () => {
    await app.setClock(at)
    const shop = await discountStore(app)
    const made = (change: object) => shop.call(createPromotion, { body: shop.promotion(change) })
    for (const change of [{ startsAt: tomorrow, endsAt: tomorrow }, { endsAt: at }]) {
      expect(await made(change)).toMatchObject(refused(400, /^(startsAt|endsAt): /))
    }
    expect((await made({ startsAt: tomorrow })).body).toMatchObject({
      status: 'scheduled',
      syncStatus: 'synced',
    })
  })

  test('at most 25 are live, even with ten concurrent writes; two activations create one discount', async () => {
    const shop = await discountStore(app)
    for (let n = 1; n <= 24; n += 1) {
      expect((await shop.call(createPromotion, { body: shop.promotion({ name: `P${n}` }) })).status).toBe(201)
    }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        shop.call(createPromotion, { body: shop.promotion({ name: `Q${n}` }) }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    const listed = await shop.call(listPromotions, { query: { status: 'active' } })
    expect(listed.body.total).toBe(25)
    expect(await shop.held()).toHaveLength(25)

    const { id } = answers.find(({ status }) => status === 201)!.body
    await shop.call(setActive, { params: { id }, body: { isActive: false } })
    const both = await Promise.all(
      [1, 2].map(() => shop.call(setActive, { params: { id }, body: { isActive: true } })),
    )
    expect(both.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect(both.some(({ status }) => status === 200)).toBe(true)
    expect(await shop.held()).toHaveLength(25)
    const paused = await shop.call(createPromotion, {
      body: shop.promotion({ name: 'paused', isActive: false }),
    })
    expect(paused.status).toBe(201)
    const tooMany = await shop.call(setActive, { params: { id: paused.body.id }, body: { isActive: true } })
    expect(tooMany).toMatchObject(refused(409, '25'))
  })

  test('the list is newest first and filtered by part of the name and by status', async () => {
    const shop = await discountStore(app)
    for (const name of ['Café da manhã', 'Almoço']) {
      await shop.call(createPromotion, { body: shop.promotion({ name, isActive: name === 'Almoço' }) })
    }
    const names = async (query: Record<string, string>) =>
      (await shop.call(listPromotions, { query })).body.data.map((each: { name: string }) => each.name)
    expect(await names({})).toEqual(['Almoço', 'Café da manhã'])
    expect(await names({ search: 'CAFÉ' })).toEqual(['Café da manhã'])
    expect(await names({ status: 'paused' })).toEqual(['Café da manhã'])
    expect((await shop.call(listPromotions, { query: { status: 'exhausted' } })).status).toBe(400)
  })

  test('settings have defaults, and refuse a text with an unknown variable', async () => {
    const shop = await store(app)
    const { body: defaults } = await shop.call(getSettings)
    expect(defaults).toMatchObject({ isEnabled: true, labelText: '{{label}}', fontSize: 13, updatedAt: null })
    for (const productPageText of ['{{price}}', '{{buy']) {
      expect(await shop.call(saveSettings, { body: { productPageText } })).toMatchObject(
        refused(400, /^productPageText: /),
      )
    }
  })
})
