import { describe, expect, test } from 'vitest'
import deleteSlider from '#operations/product-page/video-slider/api/delete-slider'
import getHome from '#operations/product-page/video-slider/api/get-home-slider'
import listSliders from '#operations/product-page/video-slider/api/list-sliders'
import saveHome from '#operations/product-page/video-slider/api/save-home-slider'
import saveSlider from '#operations/product-page/video-slider/api/save-slider'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'
import { sendEvents, visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 100_000, publicUrl: 'http://localhost' })
await app.setClock('2026-11-20T12:00:00.000Z')

const video = { videoUrl: 'https://videos.example.com/a.mp4' }
const whole = { ...video, posterUrl: null, title: null, linkedProductId: null }
const save = (shop: Shop, body: object) => shop.call(saveSlider, { body })
const home = (shop: Shop, body: object) => shop.call(saveHome, { body })
const shown = async (shop: Shop, query: string) => (await visit(shop, `/widgets?${query}`)).body.videoSlider
const remove = (shop: Shop, productId: string) => shop.call(deleteSlider, { params: { productId } })

const setOutage = async (shop: Shop, isDown: boolean) => {
  const db = app.database.root
  if (!isDown) await db.deleteFrom('sandbox_modes').where('store_id', '=', shop.id).execute()
  else
    await db
      .insertInto('sandbox_modes')
      .values({ store_id: shop.id, port: 'ecommerce', mode: 'down' })
      .execute()
}

describe('the video slider of a product', () => {
  test("a product's slider is created and changed; sent back it is unchanged", async () => {
    const shop = await connectedStore(app)
    const { status, body } = await save(shop, { productId: '1001', videos: [video] })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: body.id,
      productId: '1001',
      productName: 'Caneca',
      productStatus: 'available',
      title: null,
      layout: 'carousel',
      autoplay: true,
      muted: true,
      loop: true,
      showControls: false,
      videos: [whole],
      isActive: true,
      placement: 'below-gallery',
      impressions: 0,
      clicks: 0,
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    await app.advance(1000)
    expect((await save(shop, body)).body).toEqual(body)
    const changed = await save(shop, { productId: '1001', title: 'Em uso', id: 'ignored' })
    expect(changed.body).toEqual({ ...body, title: 'Em uso', updatedAt: app.clock.now().toISOString() })
    expect((await shop.call(listSliders, { query: { productId: '1001' } })).body.total).toBe(1)
    expect((await shop.call(listSliders, { query: { productId: '1002' } })).body.data).toEqual([])
    expect((await remove(shop, '1001')).status).toBe(204)
  })

  test('two concurrent creations make one slider', async () => {
    const shop = await connectedStore(app)
    const both = await Promise.all(
      ['A', 'B'].map((title) => save(shop, { productId: '1001', title, videos: [video] })),
    )
    expect(both.map((each) => each.status)).toEqual([200, 200])
    expect(both[0]!.body.id).toBe(both[1]!.body.id)
    expect((await shop.call(listSliders)).body.total).toBe(1)
  })

  test.each<[string, object]>([
    ['videos', { productId: '1001' }],
    ['videos.0.videoUrl', { productId: '1001', videos: [{ videoUrl: 'http://x.example/a.mp4' }] }],
    ['videos.0.videoUrl', { productId: '1001', videos: [{}] }],
    ['videos.0.posterUrl', { productId: '1001', videos: [{ ...video, posterUrl: 'ftp://x.example/a' }] }],
    ['autoplay', { productId: '1001', videos: [video], muted: false }],
  ])('refuses %s that cannot be', async (field, body) => {
    const shop = await connectedStore(app)
    expect(await save(shop, body)).toMatchObject(refused(400, field.split('.').at(-1)!))
    expect((await shop.call(listSliders)).body.total).toBe(0)
  })

  test('only new references need the platform', async () => {
    const shop = await connectedStore(app)
    await save(shop, { productId: '1001', videos: [{ ...video, linkedProductId: '1002' }] })
    await setOutage(shop, true)
    expect((await save(shop, { productId: '1002', videos: [video] })).status).toBe(503)
    const kept = [{ ...video, linkedProductId: '1002', title: 'T' }]
    expect((await save(shop, { productId: '1001', videos: kept })).status).toBe(200)
    expect((await remove(shop, '1001')).status).toBe(204)
    await setOutage(shop, false)
    expect((await save(await store(app), { productId: '1001', videos: [video] })).status).toBe(409)
  })
})

describe('the video slider of the home page', () => {
  test('the home slider has defaults until it is saved; it cannot be enabled without a video', async () => {
    const shop = await connectedStore(app)
    const defaults = {
      title: null,
      layout: 'carousel',
      autoplay: true,
      muted: true,
      loop: true,
      showControls: false,
      videos: [],
      isEnabled: false,
      placement: 'middle',
      impressions: 0,
      clicks: 0,
      updatedAt: null,
    }
    expect((await shop.call(getHome)).body).toEqual(defaults)
    expect((await home(shop, defaults)).body).toEqual(defaults)
    expect((await home(shop, { isEnabled: true })).status).toBe(400)
    const saved = await home(shop, { isEnabled: true, videos: [{ ...video, linkedProductId: '1001' }] })
    expect(saved.body).toMatchObject({ isEnabled: true, placement: 'middle' })
    expect((await home(shop, saved.body)).body).toEqual(saved.body)
    expect((await home(shop, { videos: [] })).status).toBe(400)
    expect((await home(shop, { placement: 'gallery' })).status).toBe(400)
    expect((await home(shop, { autoplay: false, muted: false })).status).toBe(200)
  })
})

test('the storefront shows each slider on its page, and counts its events', async () => {
  const shop = await connectedStore(app)
  const { body } = await save(shop, { productId: '1001', videos: [{ ...video, linkedProductId: '1002' }] })
  await home(shop, { isEnabled: true, videos: [video], title: 'Novidades' })
  expect(await shown(shop, 'page=product&productId=1001')).toEqual({
    id: body.id,
    title: null,
    layout: 'carousel',
    placement: 'below-gallery',
    autoplay: true,
    muted: true,
    loop: true,
    showControls: false,
    videos: [
      {
        ...{ ...video, posterUrl: null, title: null },
        product: expect.objectContaining({ productId: '1002', name: 'Avental', price: 100, currency: 'BRL' }),
      },
    ],
  })
  expect(await shown(shop, 'page=home')).toMatchObject({
    id: 'home',
    title: 'Novidades',
    placement: 'middle',
  })
  expect(await shown(shop, 'page=product&productId=1002')).toBeUndefined()
  expect(await shown(shop, 'page=cart')).toBeUndefined()
  const of = (resourceId: string, type = 'impression') => ({ type, widget: 'video-slider', resourceId })
  await sendEvents(shop, [of(body.id), of(body.id, 'click'), of('home'), of('nope'), of(crypto.randomUUID())])
  const { data } = (await shop.call(listSliders)).body
  expect(data[0]).toMatchObject({ impressions: 1, clicks: 1, updatedAt: body.updatedAt })
  expect((await shop.call(getHome)).body).toMatchObject({ impressions: 1, clicks: 0 })
  await save(shop, { productId: '1001', isActive: false })
  expect(await shown(shop, 'page=product&productId=1001')).toBeUndefined()
})
