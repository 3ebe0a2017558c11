import { describe, expect, test } from 'vitest'
import changeBlock from '#operations/product-page/content-blocks/api/change-block'
import createBlock from '#operations/product-page/content-blocks/api/create-block'
import createUpload from '#operations/product-page/content-blocks/api/create-upload'
import deleteBlock from '#operations/product-page/content-blocks/api/delete-block'
import getStats from '#operations/product-page/content-blocks/api/get-stats'
import listBlocks from '#operations/product-page/content-blocks/api/list-blocks'
import moveBlock from '#operations/product-page/content-blocks/api/move-block'
import reorderBlocks from '#operations/product-page/content-blocks/api/reorder-blocks'
import { cleanFiles } from '#operations/store/files/clean'
import { SystemContext } from '#runtime/context'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
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
  test('starts off and last, cleaned; sent back it is the same; its type stays', async () => {
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
    expect(other).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('type') } },
    })
    const on = await move(shop, { id: block.id, isActive: true })
    expect(on).toMatchObject({ status: 200, body: { isActive: true, status: 'active' } })
    const ignored = await change(shop, { id: block.id, isActive: false, priority: 5 })
    expect(ignored.body).toMatchObject({ isActive: true, priority: 1 })
    expect((await move(shop, { id: block.id })).status).toBe(400)
    expect((await move(shop, { id: block.id, name: 'Outro' })).status).toBe(400)
  })

  test.each(Object.keys(designs))('of type %s has its own fields and defaults', async (type) => {
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
    const unknown = await create(shop, { ...richText, type, design: { ...designs[type], surprise: 1 } })
    expect(unknown.status).toBe(400)
    expect(unknown.body.error.message).toContain('surprise')
    expect((await create(shop, { ...richText, type, design: {} })).status).toBe(400)
  })

  test.each<[string, string, object]>([
    ['design.html', 'rich-text', { html: '<script>x</script>' }],
    ['design.html', 'rich-text', { html: 'x'.repeat(50_001) }],
    ['design.coverageHtml', 'warranty', { ...designs.warranty, coverageHtml: 'x'.repeat(5001) }],
    ['design.linkUrl', 'warranty', { ...designs.warranty, linkText: 'Mais' }],
    ['design.linkText', 'warranty', { ...designs.warranty, linkUrl: '/garantia' }],
    ['design.linkUrl', 'warranty', { ...designs.warranty, linkText: 'x', linkUrl: 'javascript:alert(1)' }],
    ['design.duration', 'warranty', { ...designs.warranty, duration: 121 }],
    ['design.style.padding', 'rich-text', { html: 'x', style: { padding: 101 } }],
    ['design.style.textColor', 'rich-text', { html: 'x', style: { textColor: 'red' } }],
    ['design.title', 'rich-text', { html: 'x', title: 'x'.repeat(121) }],
    ['design.items.0.answerHtml', 'faq', { items: [{ question: 'q', answerHtml: '<b' }] }],
    ['design.items', 'faq', { items: [] }],
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
    ['design.columns', 'comparison', { ...designs.comparison, columns: [{ title: 'A' }] }],
    ['design.items.0.icon', 'features', { items: [{ icon: 'rocket', title: 'x' }] }],
    ['design.items.0.icon', 'features', { items: [{ icon: 'ftp://x/y.png', title: 'x' }] }],
    ['design.imageUrl', 'image-banner', { imageUrl: 'http://elsewhere.example/a.png', alt: 'x' }],
    ['design.imageUrl', 'image-banner', { imageUrl: 'javascript://x', alt: 'x' }],
    ['design.startPosition', 'before-after', { ...designs['before-after'], startPosition: 101 }],
    ['design.rows', 'specifications', { rows: Array(61).fill({ label: 'l', value: 'v' }) }],
  ])('refuses %s of a %s', async (field, type, design) => {
    const shop = await store(app)
    const answer = await create(shop, { ...richText, type, design })
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toContain(`${field}: `)
    expect(await order(shop)).toEqual([])
  })

  test('needs a name, a type and a design; its ids are of the platform; its dates hold', async () => {
    const shop = await connectedStore(app)
    for (const [field, body] of [
      ['name', { type: 'rich-text', design: { html: 'x' } }],
      ['type', { name: 'x', design: { html: 'x' } }],
      ['type', { ...richText, type: 'poem' }],
      ['design', { name: 'x', type: 'rich-text' }],
      ['productIds', { ...richText, scope: 'products' }],
      ['productIds', { ...richText, scope: 'products', productIds: ['sandbox-missing'] }],
      ['excludedProductIds', { ...richText, excludedProductIds: ['nope'] }],
      ['categoryIds', { ...richText, scope: 'categories', categoryIds: ['nope'] }],
      ['endsAt', { ...richText, startsAt: '2026-11-22T00:00:00.000Z', endsAt: '2026-11-21T00:00:00.000Z' }],
      ['endsAt', { ...richText, endsAt: '2026-11-19T00:00:00.000Z' }],
      [
        'design.columns',
        {
          ...richText,
          type: 'comparison',
          design: {
            ...designs.comparison,
            columns: [
              { title: 'A', productId: '1001' },
              { title: 'B', productId: 'gone' },
            ],
          },
        },
      ],
    ] as [string, object][]) {
      const answer = await create(shop, body)
      expect([field, answer.status]).toEqual([field, 400])
      expect(answer.body.error.message).toContain(field)
    }
    const block = await made(shop, { scope: 'products', productIds: ['1001'], categoryIds: ['301'] })
    expect(block).toMatchObject({ productIds: ['1001'], categoryIds: [] })
    const away = await store(app)
    const lonely = await create(away, { ...richText, scope: 'products', productIds: ['1001'] })
    expect(lonely.status).toBe(409)
  })

  test('its dates make its state; one that has ended cannot be turned on', async () => {
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

  test('of a store belongs to it alone', async () => {
    const [shop, other] = [await store(app), await store(app)]
    const { id } = await made(shop)
    for (const answer of [
      await change(other, { id, name: 'x' }),
      await move(other, { id, isActive: true }),
      await other.call(deleteBlock, { params: { id } }),
      await change(other, { id: 'nope', name: 'x' }),
    ]) {
      expect(answer.status).toBe(404)
    }
    expect((await other.call(listBlocks)).body.total).toBe(0)
  })

  test('there are a hundred at most, also when two come at once', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const { id } = await made(shop)
    const row = await ctx.db
      .selectFrom('content_blocks')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    for (let priority = 2; priority <= 99; priority += 1) {
      const { store_id: _store, ...columns } = row
      await ctx.db
        .insertInto('content_blocks')
        .values({
          ...columns,
          id: ctx.newId(),
          priority,
          design: JSON.stringify(row.design),
          content: JSON.stringify(row.content),
        })
        .execute()
    }
    const both = await Promise.all([create(shop, richText), create(shop, richText)])
    expect(both.map((each) => each.status).sort()).toEqual([201, 409])
    expect((await shop.call(listBlocks)).body.total).toBe(100)
  })
})

describe('the order of content blocks', () => {
  test('is dense; it is set whole or not at all', async () => {
    const shop = await store(app)
    const [a, b, c] = [
      await made(shop, { name: 'A' }),
      await made(shop, { name: 'B' }),
      await made(shop, { name: 'C' }),
    ]
    const reorder = (ids: string[]) => shop.call(reorderBlocks, { body: { ids } })
    const answer = await reorder([c.id, a.id, b.id])
    expect(answer).toMatchObject({
      status: 200,
      body: {
        data: [
          { id: c.id, priority: 1 },
          { id: a.id, priority: 2 },
          { id: b.id, priority: 3 },
        ],
      },
    })
    const other = await made(await store(app))
    for (const [ids, status] of [
      [[c.id, a.id], 409],
      [[c.id, a.id, other.id], 404],
      [[c.id, a.id, 'nope'], 404],
      [[a.id, a.id, b.id], 400],
      [[], 400],
    ] as [string[], number][]) {
      expect((await reorder(ids)).status, String(ids)).toBe(status)
    }
    expect(await order(shop)).toEqual([
      ['C', 1],
      ['A', 2],
      ['B', 3],
    ])
    expect((await move(shop, { id: c.id, priority: 99 })).body.priority).toBe(3)
    expect(await order(shop)).toEqual([
      ['A', 1],
      ['B', 2],
      ['C', 3],
    ])
    await move(shop, { id: c.id, priority: 1 })
    expect((await shop.call(deleteBlock, { params: { id: a.id } })).status).toBe(204)
    expect(await order(shop)).toEqual([
      ['C', 1],
      ['B', 2],
    ])
    expect((await shop.call(deleteBlock, { params: { id: a.id } })).status).toBe(404)
    expect((await made(shop, { name: 'D' })).priority).toBe(3)
  })

  test('is one of two that come at once, never a mix; moves among them stay dense', async () => {
    const shop = await store(app)
    const ids: string[] = []
    for (const name of ['A', 'B', 'C', 'D', 'E']) ids.push((await made(shop, { name })).id)
    const [first, second] = [ids.toReversed(), [...ids.slice(2), ...ids.slice(0, 2)]]
    for (let round = 0; round < 3; round += 1) {
      const both = await Promise.all(
        [first, second].map((order) => shop.call(reorderBlocks, { body: { ids: order } })),
      )
      expect(both.map((each) => each.status)).toEqual([200, 200])
      const now = (await shop.call(listBlocks)).body.data.map((each: { id: string }) => each.id)
      expect([first, second]).toContainEqual(now)
    }
    const moves = await Promise.all([
      ...ids.map((id, at) => move(shop, { id, priority: ((at * 3) % 5) + 1 })),
      shop.call(deleteBlock, { params: { id: ids[2]! } }),
      create(shop, richText),
    ])
    expect(moves.every((each) => each.status < 500)).toBe(true)
    expect((await order(shop)).map(([, priority]) => priority)).toEqual([1, 2, 3, 4, 5])
  })
})

describe('which blocks are for a product', () => {
  test('says their targeting; the storefront shows those that are on', async () => {
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

describe('what shoppers saw and clicked', () => {
  const stats = (shop: Shop, query = {}) => shop.call(getStats, { query })

  test('counts once, on the day of the store, of this store alone', async () => {
    await app.setClock('2026-11-20T12:10:00.000Z')
    const [shop, other] = [await store(app), await store(app)]
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
    const foreign = await sendEvents(other, [impression, { ...impression, type: 'close' }])
    expect(foreign.status).toBe(204)
    expect((await stats(other)).body).toMatchObject({ data: [], totals: { impressions: 0, clickRate: null } })
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

  test('counts while others put the blocks into another order', async () => {
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

  test.each([
    [{ startDate: '2026-11-20', endDate: '2026-11-19' }],
    [{ startDate: '2025-11-20', endDate: '2026-11-20' }],
    [{ startDate: '2026-02-30' }],
  ])('refuses the range %o', async (query) => {
    const { status, body } = await stats(await store(app), query)
    expect(status).toBe(400)
    expect(body.error.message).toContain('startDate')
  })
})

describe('files of blocks', () => {
  const png = { fileName: 'a.png', contentType: 'image/png', size: 5 }
  const uploaded = async (shop: Shop): Promise<string> => {
    const { body } = await shop.call(createUpload, { body: png })
    const { uploadUrl, method, headers, fileUrl } = body
    const answer = await app.fetch(new Request(uploadUrl, { method, headers, body: 'bytes' }))
    expect(answer.status).toBe(200)
    return fileUrl
  }

  test.each<[string, object]>([
    ['contentType', { contentType: 'image/svg+xml' }],
    ['contentType', { contentType: 'video/mp4' }],
    ['size', { size: 5 * 1024 * 1024 + 1 }],
    ['size', { size: 0 }],
    ['fileName', { fileName: '' }],
  ])('of a wrong %s have no link', async (field, wrong) => {
    const { status, body } = await (await store(app)).call(createUpload, { body: { ...png, ...wrong } })
    expect(status).toBe(400)
    expect(body.error.message).toContain(field)
  })

  test('the upload itself has the type and size that were told', async () => {
    const { body } = await (await store(app)).call(createUpload, { body: png })
    for (const [headers, bytes] of [
      [body.headers, 'more bytes'],
      [{ ...body.headers, 'Content-Type': 'text/html' }, 'bytes'],
    ]) {
      const answer = await app.fetch(new Request(body.uploadUrl, { method: 'PUT', headers, body: bytes }))
      expect(answer.status).toBeGreaterThanOrEqual(400)
    }
  })

  test("are this store's own, kept while something names them, and gone afterwards", async () => {
    const [shop, other] = [await store(app), await store(app)]
    const [banner, inText] = [await uploaded(shop), await uploaded(shop)]
    const design = { imageUrl: banner, alt: 'x' }
    const foreign = await create(other, { ...richText, type: 'image-banner', design })
    expect(foreign).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('design.imageUrl') } },
    })
    const html = `<p>x<img src="${inText}" alt="y"></p>`
    const stripped = await made(other, { design: { html } })
    expect(stripped.design.html).toBe('<p>x<img alt="y" /></p>')
    const block = await made(shop, { type: 'image-banner', design })
    const text = await made(shop, { design: { html } })
    expect(text.design.html).toBe(`<p>x<img src="${inText}" alt="y" /></p>`)
    const { body: never } = await shop.call(createUpload, { body: png })
    const unsent = await change(shop, { id: block.id, design: { mobileImageUrl: never.fileUrl } })
    expect(unsent.status).toBe(400)

    const clean = () =>
      cleanFiles(new SystemContext(app.services, app.services.log, 'test'), new AbortController().signal)
    const isThere = async (url: string) => (await app.fetch(new Request(url))).status === 200
    await app.advance(25 * 3_600_000)
    await clean()
    expect([await isThere(banner), await isThere(inText)]).toEqual([true, true])
    await change(shop, { id: block.id, design: { imageUrl: image } })
    await shop.call(deleteBlock, { params: { id: text.id } })
    await app.advance(23 * 3_600_000)
    await clean()
    expect([await isThere(banner), await isThere(inText)]).toEqual([true, true])
    await app.advance(2 * 3_600_000)
    await clean()
    expect([await isThere(banner), await isThere(inText)]).toEqual([false, false])
  })
})
