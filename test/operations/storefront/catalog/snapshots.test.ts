import { describe, expect, test } from 'vitest'
import type { WebhookTopic } from '#operations/store/ecommerce/port'
import { putCategories, putProduct, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { buildWebhookDeliveries } from '#operations/store/ecommerce/sandbox-webhooks'
import { snapshots } from '#operations/storefront/index'
import type { SectionExtensions } from '#runtime/extensions'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore, twoProducts } from '#test/support/platform'
import { deleteRows } from '#test/support/rows'
import { store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const notified: { storeId: string; ids: string[] }[] = []
const extensions: SectionExtensions = {
  productsChanged: [
    async (ctx, ids) => {
      if (!ctx.inTransaction) throw new Error('Listeners run in the transaction')
      notified.push({ storeId: ctx.store.id, ids: [...ids] })
    },
  ],
  widgets: {
    testCatalog: {
      feature: 'product-content',
      async build(ctx) {
        const found = await snapshots.find(ctx, ['1001'])
        return { value: found.get('1001')?.name ?? null }
      },
    },
  },
}
const app = await testApp({ storefrontReadsIp: 10_000 }, { extensions })
await app.setClock('2026-11-20T12:00:00.000Z')

const listNotified = (shop: ConnectedShop): string[][] =>
  notified.filter((each) => each.storeId === shop.id).map((each) => each.ids)
const find = async (shop: ConnectedShop, ...ids: string[]) => snapshots.find(await shop.context(), ids)
const readCacheState = (shop: ConnectedShop) =>
  app.database.root
    .selectFrom('catalog_mirrors')
    .selectAll()
    .where('store_id', '=', shop.id)
    .executeTakeFirstOrThrow()

async function deliver(shop: ConnectedShop, topic: WebhookTopic, id: string): Promise<void> {
  const updatedAt = app.clock.now().toISOString()
  for (const { url, headers, body } of await buildWebhookDeliveries(shop.platform, topic, {
    id,
    updatedAt,
  })) {
    await app.fetch(new Request(url, { method: 'POST', headers, body }), { ip: '127.0.0.1' })
  }
  await app.drainJobs()
}
const sixHours = async () => {
  await app.advance(6 * 3_600_000 + 1000)
  await app.drainJobs()
}
const outage = async (shop: ConnectedShop, mode: 'up' | 'down') => {
  await app.fetch(
    new Request(`http://localhost/sandbox/api/ecommerce/${shop.id}/outage`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ mode }),
    }),
    { ip: '127.0.0.1' },
  )
}

describe('the catalog cache', () => {
  test('the whole catalog is read when a store is connected', async () => {
    const shop = await connectedStore(app)
    const found = await find(shop, '1001', '1002', '1003')
    expect([...found.keys()].sort()).toEqual(['1001', '1002'])
    expect(found.get('1001')).toMatchObject({
      name: 'Caneca',
      price: '60.00',
      compareAtPrice: null,
      currency: 'BRL',
      stock: 100,
      isPublished: true,
      exists: true,
    })
    expect(found.get('1001')!.variants).toMatchObject([
      { variantId: '2001', sku: 'CAN-1', price: '120.00', stock: 50, isAvailable: true },
      { variantId: '2002', sku: 'CAN-2', price: '60.00', stock: 50, isAvailable: true },
    ])
    expect(listNotified(shop)).toEqual([['1001', '1002']])
    expect(await readCacheState(shop)).toMatchObject({ revision: 1 })
  })

  test('several pages are read, and categories with all their ancestors', async () => {
    const shop = await connectedStore(app)
    await putCategories(shop.platform, [
      { id: '301', name: 'Casa' },
      { id: '302', name: 'Cozinha', parentId: '301' },
    ])
    await putProducts(
      shop.platform,
      Array.from({ length: 250 }, (_, index) => ({
        id: `p${index}`,
        name: `Produto ${index}`,
        categoryIds: ['302'],
        variants: [{ id: `v${index}`, price: 10 }],
      })),
    )
    await sixHours()
    const { count } = await app.database.root
      .selectFrom('product_snapshots')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('store_id', '=', shop.id)
      .where('exists', '=', true)
      .executeTakeFirstOrThrow()
    expect(Number(count)).toBe(252)
    expect((await find(shop, 'p249')).get('p249')!.categoryIds.sort()).toEqual(['301', '302'])
  })

  test('a read without changes writes nothing and notifies nobody', async () => {
    const shop = await connectedStore(app)
    const before = await readCacheState(shop)
    await sixHours()
    const after = await readCacheState(shop)
    expect(after.revision).toBe(before.revision)
    expect(after.read_at!.getTime()).toBeGreaterThan(before.read_at!.getTime())
    expect(listNotified(shop)).toHaveLength(1)
  })

  test('a product missing from a read no longer exists, and exists again once it is back', async () => {
    const shop = await connectedStore(app)
    const row = () =>
      app.database.root
        .selectFrom('sandbox_objects')
        .select(['store_id', 'kind', 'id', 'data', 'updated_at'])
        .where('store_id', '=', shop.id)
        .where('kind', '=', 'product')
        .where('id', '=', '1002')
    const saved = await row().executeTakeFirstOrThrow()
    await deleteRows(shop, 'sandbox_objects', { kind: 'product', id: '1002' })
    await sixHours()
    const gone = (await find(shop, '1002')).get('1002')
    expect(gone).toMatchObject({ name: 'Avental', exists: false })
    expect(snapshots.getStatus(gone)).toBe('missing')
    expect(listNotified(shop).at(-1)).toEqual(['1002'])
    await app.database.root
      .insertInto('sandbox_objects')
      .values({ ...saved, data: JSON.stringify(saved.data) })
      .execute()
    await sixHours()
    expect((await find(shop, '1002')).get('1002')).toMatchObject({ exists: true })
    expect(listNotified(shop).at(-1)).toEqual(['1002'])
  })

  test('a changed product is read immediately, and only it is notified', async () => {
    const shop = await connectedStore(app)
    await app.advance(1000)
    await putProduct(shop.platform, { ...twoProducts[0]!, name: 'Caneca azul' })
    await putProduct(shop.platform, { ...twoProducts[1]!, name: 'Avental novo' })
    await deliver(shop, 'product.updated', '1001')
    const found = await find(shop, '1001', '1002')
    expect(found.get('1001')!.name).toBe('Caneca azul')
    expect(found.get('1002')!.name).toBe('Avental')
    expect(listNotified(shop).at(-1)).toEqual(['1001'])
    expect((await readCacheState(shop)).revision).toBe(2)
  })

  test('a stock event names a variant: its product is read', async () => {
    const shop = await connectedStore(app)
    await app.advance(1000)
    const [mug] = twoProducts
    await putProduct(shop.platform, {
      ...mug!,
      variants: mug!.variants.map((variant) => ({ ...variant, stock: 0 })),
    })
    await deliver(shop, 'stock.updated', '2002')
    const found = (await find(shop, '1001')).get('1001')!
    expect(found.stock).toBe(0)
    expect(snapshots.getStatus(found)).toBe('out-of-stock')
    expect(snapshots.getStatus(found, '2001')).toBe('out-of-stock')
    expect(snapshots.getStatus(found, '9999')).toBe('missing')
  })

  test('older data never replaces newer data', async () => {
    const shop = await connectedStore(app)
    await app.advance(10_000)
    await putProduct(shop.platform, { ...twoProducts[0]!, name: 'Newer' })
    await deliver(shop, 'product.updated', '1001')
    await putProduct(shop.platform, {
      ...twoProducts[0]!,
      name: 'Older',
      updatedAt: new Date(app.clock.ms() - 5000),
    })
    await sixHours()
    expect((await find(shop, '1001')).get('1001')!.name).toBe('Newer')
  })

  test('the storefront shows a change with another ETag', async () => {
    const shop = await connectedStore(app)
    const before = await visit(shop, '/widgets')
    expect(before.body.testCatalog).toBe('Caneca')
    await app.advance(1000)
    await putProduct(shop.platform, { ...twoProducts[0]!, name: 'Caneca azul' })
    await deliver(shop, 'product.updated', '1001')
    const after = await visit(shop, '/widgets', {
      headers: { 'if-none-match': before.headers.get('etag')! },
    })
    expect(after.status).toBe(200)
    expect(after.body.testCatalog).toBe('Caneca azul')
  })

  test('a platform outage changes nothing', async () => {
    const shop = await connectedStore(app)
    await outage(shop, 'down')
    await app.advance(6 * 3_600_000 + 1000)
    await app.drainJobs({ allowFailures: true })
    await outage(shop, 'up')
    expect((await find(shop, '1001', '1002')).size).toBe(2)
    expect([...(await find(shop, '1001', '1002')).values()].every((each) => each.exists)).toBe(true)
    await app.advance(3_600_000)
    await app.drainJobs()
  })
})

describe('products and categories named by a body', () => {
  test('ids in the cache are accepted without a call', async () => {
    const shop = await connectedStore(app)
    await outage(shop, 'down')
    const found = await snapshots.requireProducts(await shop.context(), ['1001', '1002'], 'productIds')
    expect(found.get('1002')!.name).toBe('Avental')
    await outage(shop, 'up')
  })

  test('ids missing from the cache are looked up once', async () => {
    const shop = await connectedStore(app)
    await putProduct(shop.platform, { id: '1003', name: 'Bule', variants: [{ id: '2004', price: 80 }] })
    const found = await snapshots.requireProducts(await shop.context(), ['1001', '1003'], 'productIds')
    expect(found.get('1003')!.name).toBe('Bule')
    await outage(shop, 'down')
    expect((await snapshots.requireProducts(await shop.context(), ['1003'], 'x')).size).toBe(1)
    await outage(shop, 'up')
  })

  test('ids unknown to the platform are refused and named', async () => {
    const shop = await connectedStore(app)
    const ctx = await shop.context()
    await expect(snapshots.requireProducts(ctx, ['1001', 'sandbox-missing'], 'items')).rejects.toMatchObject({
      code: 'bad_request',
      message: 'items: your platform has no product sandbox-missing',
    })
    await expect(snapshots.requireCategories(ctx, ['399'], 'categoryIds')).rejects.toMatchObject({
      code: 'bad_request',
      message: 'categoryIds: your platform has no category 399',
    })
  })

  test('a category is known by the platform, or by a cached product in it', async () => {
    const shop = await connectedStore(app)
    await putCategories(shop.platform, [
      { id: '301', name: 'Casa' },
      { id: '302', name: 'Vazia' },
    ])
    await putProduct(shop.platform, {
      id: '1003',
      name: 'Bule',
      categoryIds: ['301'],
      variants: [{ id: '2004', price: 80 }],
    })
    const ctx = await shop.context()
    await snapshots.readLive(ctx, ['1003'])
    await snapshots.requireCategories(ctx, ['301', '302'], 'categoryIds')
    await outage(shop, 'down')
    await snapshots.requireCategories(ctx, ['301'], 'categoryIds')
    await expect(snapshots.requireCategories(ctx, ['302'], 'categoryIds')).rejects.toThrow('down')
    await outage(shop, 'up')
  })

  test('a lookup needs a platform, and never runs inside a transaction', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    await expect(snapshots.requireProducts(ctx, ['1001'], 'productIds')).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(
      ctx.transaction((tx) => snapshots.requireProducts(tx, ['1001'], 'productIds')),
    ).rejects.toThrow("transaction: 'own'")
  })

  test('a live read updates the cache with changes and deletions', async () => {
    const shop = await connectedStore(app)
    await app.advance(1000)
    await putProduct(shop.platform, { ...twoProducts[0]!, name: 'Caneca azul', isPublished: false })
    await deleteRows(shop, 'sandbox_objects', { kind: 'product', id: '1002' })
    const found = await snapshots.readLive(await shop.context(), ['1001', '1002', '1099'])
    expect(snapshots.getStatus(found.get('1001'))).toBe('unpublished')
    expect(snapshots.getStatus(found.get('1002'))).toBe('missing')
    expect(found.has('1099')).toBe(false)
  })
})
