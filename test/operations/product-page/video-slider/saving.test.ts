import { describe, expect, test } from 'vitest'
import createUpload from '#operations/product-page/video-slider/api/create-upload'
import deleteSlider from '#operations/product-page/video-slider/api/delete-slider'
import getHome from '#operations/product-page/video-slider/api/get-home-slider'
import listSliders from '#operations/product-page/video-slider/api/list-sliders'
import saveHome from '#operations/product-page/video-slider/api/save-home-slider'
import saveSlider from '#operations/product-page/video-slider/api/save-slider'
import { cleanFiles } from '#operations/store/files/clean'
import { SystemContext } from '#runtime/context'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
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

const upload = async (shop: Shop, body: object = {}): Promise<string> => {
  const mp4 = { fileName: 'a.mp4', contentType: 'video/mp4', size: 5 }
  const { body: link } = await shop.call(createUpload, { body: { ...mp4, ...body } })
  const answer = await app.fetch(
    new Request(link.uploadUrl, { method: 'PUT', headers: link.headers, body: 'bytes' }),
  )
  expect(answer.status).toBe(200)
  return link.fileUrl
}

describe('the video slider of a product', () => {
  test('is made and changed by its product; sent back it is the same', async () => {
    const shop = await connectedStore(app)
    const lacking = await save(shop, { productId: '1001' })
    expect(lacking).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('videos') } },
    })
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
    expect((await remove(await store(app), '1001')).status).toBe(404)
    expect((await remove(shop, '1001')).status).toBe(204)
    expect((await remove(shop, '1001')).status).toBe(404)
  })

  test('is one when two make it at once', async () => {
    const shop = await connectedStore(app)
    const both = await Promise.all(
      ['A', 'B'].map((title) => save(shop, { productId: '1001', title, videos: [video] })),
    )
    expect(both.map((each) => each.status)).toEqual([200, 200])
    expect(both[0]!.body.id).toBe(both[1]!.body.id)
    expect((await shop.call(listSliders)).body.total).toBe(1)
  })

  test.each<[string, object]>([
    ['productId', { productId: 'sandbox-missing', videos: [video] }],
    ['videos', { productId: '1001', videos: [] }],
    ['videos', { productId: '1001', videos: Array(21).fill(video) }],
    ['videos.0.videoUrl', { productId: '1001', videos: [{ videoUrl: 'http://x.example/a.mp4' }] }],
    ['videos.0.videoUrl', { productId: '1001', videos: [{}] }],
    ['videos.0.posterUrl', { productId: '1001', videos: [{ ...video, posterUrl: 'ftp://x.example/a' }] }],
    ['linkedProductId', { productId: '1001', videos: [{ ...video, linkedProductId: 'nope' }] }],
    ['autoplay', { productId: '1001', videos: [video], muted: false }],
    ['placement', { productId: '1001', videos: [video], placement: 'top' }],
    ['videos.0.surprise', { productId: '1001', videos: [{ ...video, surprise: 1 }] }],
  ])('refuses %s that cannot be', async (field, body) => {
    const shop = await connectedStore(app)
    const answer = await save(shop, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(400)
    expect(answer.body.error.message).toContain(field.split('.').at(-1))
    expect((await shop.call(listSliders)).body.total).toBe(0)
  })

  test('needs the platform for what is new alone', async () => {
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

  test('keeps its files, and lets go of those that were replaced', async () => {
    const [shop, other] = [await connectedStore(app), await connectedStore(app)]
    const videoUrl = await upload(shop)
    const posterUrl = await upload(shop, { fileName: 'p.webp', contentType: 'image/webp' })
    const foreign = await save(other, { productId: '1001', videos: [{ videoUrl }] })
    expect(foreign.body.error.message).toContain('videos.0.videoUrl')
    await save(shop, { productId: '1001', videos: [{ videoUrl, posterUrl }] })
    const clean = () =>
      cleanFiles(new SystemContext(app.services, app.services.log, 'test'), new AbortController().signal)
    const isThere = async (url: string) => (await app.fetch(new Request(url))).status === 200
    await app.advance(25 * 3_600_000)
    await clean()
    expect([await isThere(videoUrl), await isThere(posterUrl)]).toEqual([true, true])
    await save(shop, { productId: '1001', videos: [{ videoUrl }] })
    await app.advance(25 * 3_600_000)
    await clean()
    expect([await isThere(videoUrl), await isThere(posterUrl)]).toEqual([true, false])
  })

  test('uploads are of the types and sizes of videos and posters', async () => {
    const shop = await store(app)
    const link = async (contentType: string, size: number) =>
      (await shop.call(createUpload, { body: { fileName: 'a', contentType, size } })).status
    const mebibyte = 1024 * 1024
    expect(await link('video/mp4', 100 * mebibyte)).toBe(200)
    expect(await link('video/webm', 100 * mebibyte + 1)).toBe(400)
    expect(await link('image/webp', 5 * mebibyte)).toBe(200)
    expect(await link('image/png', 5 * mebibyte + 1)).toBe(400)
    expect(await link('image/gif', 5)).toBe(400)
    expect(await link('video/quicktime', 5)).toBe(400)
  })
})

describe('the video slider of the home page', () => {
  test('has defaults until it is saved; without a video it cannot be on', async () => {
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
    expect((await home(shop, { videos: [{ ...video, linkedProductId: 'nope' }] })).status).toBe(400)
    expect((await home(shop, { autoplay: false, muted: false })).status).toBe(200)
  })
})

test('the storefront shows each where it stands, and counts what is seen of it', async () => {
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
  const other = await store(app)
  await sendEvents(other, [of(body.id), of('home')])
  const days = await (await other.context()).db.selectFrom('widget_daily').selectAll().execute()
  expect(days).toEqual([])
  await save(shop, { productId: '1001', isActive: false })
  expect(await shown(shop, 'page=product&productId=1001')).toBeUndefined()
})

test('a starter store has blocks and no videos; an agent reads', async () => {
  const starter = await store(app, { plan: 'starter' })
  expect((await starter.call(listSliders)).status).toBe(403)
  expect((await starter.request('GET', '/product-content-blocks')).status).toBe(200)
  const shop = await store(app)
  const { key } = await shop.person('agent')
  expect((await shop.call(listSliders, { key })).status).toBe(200)
  expect((await shop.call(saveHome, { key, body: {} })).status).toBe(403)
})
