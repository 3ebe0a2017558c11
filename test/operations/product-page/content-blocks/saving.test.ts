import { describe, expect, test } from 'vitest'
import changeBlock from '#operations/product-page/content-blocks/api/change-block'
import createBlock from '#operations/product-page/content-blocks/api/create-block'
import createUpload from '#operations/product-page/content-blocks/api/create-upload'
import deleteBlock from '#operations/product-page/content-blocks/api/delete-block'
import getStats from '#operations/product-page/content-blocks/api/get-stats'
import listBlocks from '#operations/product-page/content-blocks/api/list-blocks'
import moveBlock from '#operations/product-page/content-blocks/api/move-block'
import reorderBlocks from '#operations/product-page/content-blocks/api/reorder-blocks'
import { testApp } from '#test/support/app'
import { copyRow } from '#test/support/copies'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'
import { sendEvents, someVisitor, visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 100_000, publicUrl: 'http://localhost' })
await app.setClock('2026-11-20T12:00:00.000Z')

const richText = { name: 'Texto', type: 'rich-text', design: { html: '<p>Hi</p>' } }
const create = (shop: Shop, body: object) => shop.call(createBlock, { body })
const change = (shop: Shop, body: object) => shop.call(changeBlock, { body })
const move = (shop: Shop, body: object) => shop.call(moveBlock, { body })
const made = async (shop: Shop, body: object = {}) => {
  const answer = await create(shop, { ...richText, ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}
const order = async (shop: Shop): Promise<[string, number][]> =>
  (await shop.call(listBlocks)).body.data.map((each: { name: string; priority: number }) => [
    each.name,
    each.priority,
  ])
const shown = async (shop: Shop, query = 'page=product&productId=1001') =>
  (await visit(shop, `/widgets?${query}`)).body.contentBlocks?.items ?? []

const image = 'https://cdn.example.com/a.png'
const designs: Record<string, object> = {
  warranty: { duration: 12, durationUnit: 'months', coverageHtml: '<p>Tudo</p>' },
  faq: { items: [{ question: 'Molha?', answerHtml: '<p>Não</p>' }] },
  comparison: {
    columns: [{ title: 'A' }, { title: 'B', isHighlighted: true }],
    rows: [{ label: 'Lava-louças', cells: [true, 'não'] }],
  },
  'rich-text': { html: '<p>Hi</p>' },
  specifications: { rows: [{ label: 'Peso', value: '300 g' }] },
  features: { items: [{ icon: 'truck', title: 'Entrega' }] },
  'image-banner': { imageUrl: image, alt: 'Banner' },
  'before-after': { beforeImageUrl: image, afterImageUrl: image },
  steps: { items: [{ title: 'Abra', textHtml: '<p>A caixa</p>' }] },
}
const style = {
  backgroundColor: null,
  textColor: '#111827',
  titleColor: '#111827',
  accentColor: '#2563eb',
  borderColor: null,
  borderRadius: 8,
  padding: 16,
  fontSize: 15,
  align: 'left',
}
const defaults: Record<string, object> = {
  warranty: { icon: 'shield', linkText: null, linkUrl: null },
  faq: { openFirst: false, structuredData: true },
  comparison: {
    columns: [
      { title: 'A', imageUrl: null, productId: null, isHighlighted: false },
      { title: 'B', imageUrl: null, productId: null, isHighlighted: true },
    ],
  },
  specifications: { layout: 'list' },
  features: { columns: 3, items: [{ icon: 'truck', title: 'Entrega', text: null }] },
  'image-banner': { mobileImageUrl: null, linkUrl: null, openInNewTab: false },
  'before-after': { beforeLabel: 'Before', afterLabel: 'After', startPosition: 50 },
  steps: { items: [{ title: 'Abra', textHtml: '<p>A caixa</p>', imageUrl: null }] },
}

describe('a content block', () => {
  test('a block starts paused and last; sent back it is unchanged; its type stays', async () => {
    const shop = await store(app)
    const dirty = '<p onclick=x>Hi<script>a()</script><a href="javascript:x">l</a></p>'
    const block = await made(shop, { isActive: true, priority: 9, design: { html: dirty } })
    expect(block).toEqual({
      id: block.id,
      ...richText,
      design: { title: null, subtitle: null, style, html: '<p>Hi<a>l</a></p>' },
      scope: 'all',
      categoryIds: [],
      productIds: [],
      excludedProductIds: [],
      startsAt: null,
      endsAt: null,
      placement: 'below-description',
      device: 'all',
      isActive: false,
      priority: 1,
      status: 'paused',
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    await app.advance(1000)
    expect((await change(shop, block)).body).toEqual(block)
    expect((await move(shop, block)).body).toEqual(block)
    const titled = await change(shop, { id: block.id, design: { title: 'T', style: { padding: 20 } } })
    expect(titled.body.design).toEqual({
      ...block.design,
      title: 'T',
      style: { ...style, padding: 20 },
    })
    expect(titled.body.updatedAt).toBe(app.clock.now().toISOString())
    expect((await change(shop, { id: block.id, design: { title: '' } })).body.design.title).toBeNull()
    const other = await change(shop, { id: block.id, type: 'faq' })
    expect(other).toMatchObject(refused(400, 'type'))
    const on = await move(shop, { id: block.id, isActive: true })
    expect(on).toMatchObject({ status: 200, body: { isActive: true, status: 'active' } })
    const ignored = await change(shop, { id: block.id, isActive: false, priority: 5 })
    expect(ignored.body).toMatchObject({ isActive: true, priority: 1 })
    expect((await move(shop, { id: block.id })).status).toBe(400)
    expect((await move(shop, { id: block.id, name: 'Outro' })).status).toBe(400)
  })

  test.each(Object.keys(designs))('a block of type %s has its own fields and defaults', async (type) => {
    const shop = await store(app)
    const block = await made(shop, { type, design: designs[type] })
    expect(block.design).toEqual({
      title: null,
      subtitle: null,
      style,
      ...designs[type],
      ...defaults[type],
    })
    expect((await change(shop, block)).body).toEqual(block)
    expect(
      await create(shop, { ...richText, type, design: { ...designs[type], surprise: 1 } }),
    ).toMatchObject(refused(400, 'surprise'))
    expect((await create(shop, { ...richText, type, design: {} })).status).toBe(400)
  })

  test.each<[string, string, object]>([
    ['design.html', 'rich-text', { html: '<script>x</script>' }],
    ['design.html', 'rich-text', { html: 'x'.repeat(50_001) }],
    ['design.coverageHtml', 'warranty', { ...designs.warranty, coverageHtml: 'x'.repeat(5001) }],
    ['design.linkUrl', 'warranty', { ...designs.warranty, linkText: 'Mais' }],
    ['design.linkText', 'warranty', { ...designs.warranty, linkUrl: '/garantia' }],
    ['design.linkUrl', 'warranty', { ...designs.warranty, linkText: 'x', linkUrl: 'javascript:alert(1)' }],
    ['design.items.0.answerHtml', 'faq', { items: [{ question: 'q', answerHtml: '<b' }] }],
    [
      'design.rows.0.cells.1',
      'comparison',
      { columns: [{ title: 'A' }, { title: 'B' }], rows: [{ label: 'l', cells: [true] }] },
    ],
    [
      'design.rows.0.cells',
      'comparison',
      { columns: [{ title: 'A' }, { title: 'B' }], rows: [{ label: 'l', cells: [true, true, true] }] },
    ],
    [
      'design.columns',
      'comparison',
      {
        columns: [
          { title: 'A', isHighlighted: true },
          { title: 'B', isHighlighted: true },
        ],
        rows: [{ label: 'l', cells: [true, true] }],
      },
    ],
    ['design.items.0.icon', 'features', { items: [{ icon: 'ftp://x/y.png', title: 'x' }] }],
    ['design.imageUrl', 'image-banner', { imageUrl: 'http://elsewhere.example/a.png', alt: 'x' }],
  ])('refuses %s of a %s', async (field, type, design) => {
    const shop = await store(app)
    expect(await create(shop, { ...richText, type, design })).toMatchObject(refused(400, `${field}: `))
    expect(await order(shop)).toEqual([])
  })

  test.each<[string, object]>([
    ['name', { name: undefined }],
    ['type', { type: undefined }],
    ['type', { type: 'poem' }],
    ['design', { design: undefined }],
    ['productIds', { scope: 'products' }],
    ['endsAt', { startsAt: '2026-11-22T00:00:00.000Z', endsAt: '2026-11-21T00:00:00.000Z' }],
    ['endsAt', { endsAt: '2026-11-19T00:00:00.000Z' }],
  ])('refuses %s that cannot be', async (field, body) => {
    expect(await create(await store(app), { ...richText, ...body })).toMatchObject(refused(400, field))
  })

  test('a block keeps only the targets of its scope, and needs a platform to look them up', async () => {
    const products = { scope: 'products', productIds: ['1001'] }
    const block = await made(await connectedStore(app), { ...products, categoryIds: ['301'] })
    expect(block).toMatchObject({ productIds: ['1001'], categoryIds: [] })
    expect((await create(await store(app), { ...richText, ...products })).status).toBe(409)
  })

  test('dates set the status of a block; an ended one cannot be enabled', async () => {
    const shop = await store(app)
    const now = app.clock.ms()
    const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
    const block = await made(shop, { startsAt: at(100), endsAt: at(200) })
    const on = await move(shop, { id: block.id, isActive: true })
    expect(on.body.status).toBe('scheduled')
    await app.setClock(at(80))
    const early = await visit(shop, '/widgets?page=product&productId=1001')
    expect(early.body.contentBlocks).toBeUndefined()
    expect(Number(/max-age=(\d+)/.exec(early.headers.get('cache-control')!)![1])).toBeLessThanOrEqual(20)
    await app.setClock(at(100))
    expect(await shown(shop)).toHaveLength(1)
    await app.setClock(at(200))
    expect(await shown(shop)).toEqual([])
    expect((await shop.call(listBlocks)).body.data[0].status).toBe('ended')
    expect((await move(shop, { id: block.id, isActive: true })).status).toBe(200)
    expect((await move(shop, { id: block.id, isActive: false })).body.status).toBe('ended')
    expect((await move(shop, { id: block.id, isActive: true })).status).toBe(409)
    await change(shop, { id: block.id, endsAt: at(400) })
    expect((await move(shop, { id: block.id, isActive: true })).body.status).toBe('active')
  })

  test('a store has at most a hundred blocks', async () => {
    const shop = await store(app)
    const { id } = await made(shop)
    const json = ['design', 'content']
    await copyRow(app, 'content_blocks', id, { count: 98, json, change: (n) => ({ priority: n + 2 }) })
    const two = [await create(shop, richText), await create(shop, richText)]
    expect(two.map((each) => each.status)).toEqual([201, 409])
  })
})

describe('the order of content blocks', () => {
  test('the order has no gaps, and is set as a whole', async () => {
    const shop = await store(app)
    const ids: string[] = []
    for (const name of ['A', 'B', 'C']) ids.push((await made(shop, { name })).id)
    const [a, b, c] = ids as [string, string, string]
    const reorder = (order: string[]) => shop.call(reorderBlocks, { body: { ids: order } })
    const answer = await reorder([c, a, b])
    expect(answer.body.data).toEqual([c, a, b].map((id, at) => ({ id, priority: at + 1 })))
    for (const [order, status] of [
      [[c, a], 409],
      [[c, a, 'nope'], 404],
      [[a, a, b], 400],
      [[], 400],
    ] as const) {
      expect((await reorder([...order])).status, String(order)).toBe(status)
    }
    expect(await order(shop)).toEqual([
      ['C', 1],
      ['A', 2],
      ['B', 3],
    ])
    expect((await move(shop, { id: c, priority: 99 })).body.priority).toBe(3)
    expect(await order(shop)).toEqual([
      ['A', 1],
      ['B', 2],
      ['C', 3],
    ])
    await move(shop, { id: c, priority: 1 })
    expect((await shop.call(deleteBlock, { params: { id: a } })).status).toBe(204)
    expect(await order(shop)).toEqual([
      ['C', 1],
      ['B', 2],
    ])
    expect((await made(shop, { name: 'D' })).priority).toBe(3)
  })

  test('the order has no gaps while several blocks are moved, deleted and created concurrently', async () => {
    const shop = await store(app)
    const ids: string[] = []
    for (const name of ['A', 'B', 'C', 'D', 'E']) ids.push((await made(shop, { name })).id)
    const moves = await Promise.all([
      ...ids.map((id, at) => move(shop, { id, priority: ((at * 3) % 5) + 1 })),
      shop.call(deleteBlock, { params: { id: ids[2]! } }),
      create(shop, richText),
    ])
    expect(moves.every((each) => each.status < 500)).toBe(true)
    expect((await order(shop)).map(([, priority]) => priority)).toEqual([1, 2, 3, 4, 5])
  })
})

describe('blocks of a product', () => {
  test('the list filters by targeting; the storefront shows active blocks', async () => {
    const shop = await connectedStore(app)
    const all = await made(shop, { name: 'all' })
    const one = await made(shop, { name: 'one', scope: 'products', productIds: ['1001'] })
    const but = await made(shop, { name: 'but', excludedProductIds: ['1001'] })
    const faq = await made(shop, { name: 'faq', type: 'faq', design: designs.faq })
    for (const { id } of [all, one, but]) await move(shop, { id, isActive: true })
    const names = async (query: Record<string, string | boolean>) =>
      (await shop.call(listBlocks, { query })).body.data.map((each: { name: string }) => each.name)
    expect(await names({ productId: '1001' })).toEqual(['all', 'one', 'faq'])
    expect(await names({ productId: '1002' })).toEqual(['all', 'but', 'faq'])
    expect(await names({ productId: 'nope' })).toEqual([])
    expect(await names({ type: 'faq' })).toEqual(['faq'])
    expect(await names({ isActive: true, productId: '1001' })).toEqual(['all', 'one'])
    const items = await shown(shop)
    expect(items.map((each: { id: string }) => each.id)).toEqual([all.id, one.id])
    expect(items[0]).toEqual({
      id: all.id,
      type: 'rich-text',
      placement: 'below-description',
      device: 'all',
      design: all.design,
    })
    expect(await shown(shop, 'page=product&productId=1002')).toHaveLength(2)
    expect(await shown(shop, 'page=home')).toEqual([])
    expect((await shown(shop, 'page=product'))[1]).toMatchObject({ scope: 'products', productIds: ['1001'] })
    await change(shop, { id: all.id, design: { html: '<p>Novo</p>' } })
    expect((await shown(shop))[0].design.html).toBe('<p>Novo</p>')
    await change(shop, { id: faq.id, name: 'still off' })
    expect(await shown(shop)).toHaveLength(2)
  })
})

describe('impressions and clicks', () => {
  const stats = (shop: Shop, query = {}) => shop.call(getStats, { query })

  test('an event counts once, on the day of the store', async () => {
    await app.setClock('2026-11-20T12:10:00.000Z')
    const shop = await store(app)
    const [seen, unseen] = [await made(shop, { name: 'seen' }), await made(shop, { name: 'unseen' })]
    const visitorId = someVisitor()
    const impression = { type: 'impression', widget: 'content-block', resourceId: seen.id }
    const click = { ...impression, type: 'click', id: crypto.randomUUID() }
    await sendEvents(shop, [impression, click], { visitorId })
    await sendEvents(shop, [impression, click], { visitorId })
    expect((await stats(shop)).body.totals).toEqual({ impressions: 1, clicks: 1, clickRate: 100 })
    await app.setClock('2026-11-20T12:30:00.000Z')
    await sendEvents(shop, [impression], { visitorId })
    await app.setClock('2026-11-21T02:30:00.000Z')
    await sendEvents(shop, [impression], { visitorId })
    const { body } = await stats(shop)
    expect(body).toMatchObject({ startDate: '2026-10-22', endDate: '2026-11-20' })
    expect(body.totals).toEqual({ impressions: 3, clicks: 1, clickRate: 33.33 })
    expect(body.data).toEqual([
      {
        ...{ blockId: seen.id, name: 'seen', type: 'rich-text', isActive: false },
        ...{ impressions: 3, clicks: 1, clickRate: 33.33 },
      },
      {
        ...{ blockId: unseen.id, name: 'unseen', type: 'rich-text', isActive: false },
        ...{ impressions: 0, clicks: 0, clickRate: null },
      },
    ])
    expect((await stats(shop, { startDate: '2025-11-20', endDate: '2026-11-20' })).status).toBe(400)
    expect(body.series).toHaveLength(30)
    expect(body.series[0]).toEqual({ date: '2026-10-22', impressions: 0, clicks: 0 })
    expect(body.series[29]).toEqual({ date: '2026-11-20', impressions: 3, clicks: 1 })
    const row = await (await shop.context()).db
      .selectFrom('content_blocks')
      .select(['impressions', 'clicks'])
      .where('id', '=', seen.id)
      .executeTakeFirst()
    expect(row).toEqual({ impressions: 3, clicks: 1 })
    await shop.call(deleteBlock, { params: { id: seen.id } })
    expect((await stats(shop)).body.totals).toEqual({ impressions: 0, clicks: 0, clickRate: null })
    const left = await (await shop.context()).db.selectFrom('widget_daily').selectAll().execute()
    expect(left).toEqual([])
    expect((await sendEvents(shop, [impression])).status).toBe(204)
  })

  test('events count while a concurrent request reorders the blocks', async () => {
    const shop = await store(app)
    const ids: string[] = []
    for (let n = 0; n < 8; n += 1) ids.push((await made(shop)).id)
    const event = (resourceId: string) => ({ type: 'impression', widget: 'content-block', resourceId })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_none, at) =>
        at % 2 === 0
          ? sendEvents(shop, (at % 4 === 0 ? ids : ids.toReversed()).map(event))
          : shop.call(reorderBlocks, { body: { ids: at % 4 === 1 ? ids.toReversed() : ids } }),
      ),
    )
    expect(answers.map((each) => each.status)).toEqual(Array(5).fill([204, 200]).flat())
    expect((await stats(shop)).body.totals.impressions).toBe(40)
  })
})

test("a text keeps pictures that are this store's files, and no other store's", async () => {
  const [shop, other] = [await store(app), await store(app)]
  const png = { fileName: 'a.png', contentType: 'image/png', size: 5 }
  const { body } = await shop.call(createUpload, { body: png })
  const { uploadUrl, method, headers, fileUrl } = body
  await app.fetch(new Request(uploadUrl, { method, headers, body: 'bytes' }))
  const design = { html: `<p>x<img src="${fileUrl}" alt="y"></p>` }
  expect((await made(shop, { design })).design.html).toBe(`<p>x<img src="${fileUrl}" alt="y" /></p>`)
  expect((await made(other, { design })).design.html).toBe('<p>x<img alt="y" /></p>')
})
