import { describe, expect, test } from 'vitest'
import type { WebhookTopic } from '#operations/store/ecommerce/port'
import { putCategories, putProduct, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { deliveriesOf } from '#operations/store/ecommerce/sandbox-webhooks'
import { snapshots } from '#operations/storefront/door'
import type { Given } from '#runtime/wiring'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore, twoProducts } from '#test/support/platform'
import { deleteRows } from '#test/support/rows'
import { store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const told: { storeId: string; ids: string[] }[] = []
const wiring: Given = {
  productsChanged: [
    async (ctx, ids) => {
      if (!ctx.inTransaction) throw new Error('Listeners are told in the transaction')
      told.push({ storeId: ctx.store.id, ids: [...ids] })
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
const app = await testApp({ storefrontReadsIp: 10_000 }, { wiring })
await app.setClock('2026-11-20T12:00:00.000Z')

const toldOf = (shop: ConnectedShop): string[][] =>
  told.filter((each) => each.storeId === shop.id).map((each) => each.ids)
const find = async (shop: ConnectedShop, ...ids: string[]) => snapshots.find(await shop.context(), ids)
const mirror = (shop: ConnectedShop) =>
  app.database.root
    .selectFrom('catalog_mirrors')
    .selectAll()
    .where('store_id', '=', shop.id)
    .executeTakeFirstOrThrow()

async function deliver(shop: ConnectedShop, topic: WebhookTopic, id: string): Promise<void> {
  const updatedAt = app.clock.now().toISOString()
  for (const { url, headers, body } of await deliveriesOf(shop.platform, topic, { id, updatedAt })) {
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

describe('the mirror of the catalog', () => {
  test('is read whole when a store is connected', async () => {
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
    expect(toldOf(shop)).toEqual([['1001', '1002']])
    expect(await mirror(shop)).toMatchObject({ revision: 1 })
  })

  test('reads more pages than one, and categories with all above them', async () => {
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

  test('a pass that finds nothing new writes nothing and tells nobody', async () => {
    const shop = await connectedStore(app)
    const before = await mirror(shop)
    await sixHours()
    const after = await mirror(shop)
    expect(after.revision).toBe(before.revision)
    expect(after.read_at!.getTime()).toBeGreaterThan(before.read_at!.getTime())
    expect(toldOf(shop)).toHaveLength(1)
  })

  test('what a pass does not meet exists no more, and exists again once it is back', async () => {
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
    expect(snapshots.statusOf(gone)).toBe('missing')
    expect(toldOf(shop).at(-1)).toEqual(['1002'])
    await app.database.root
      .insertInto('sandbox_objects')
      .values({ ...saved, data: JSON.stringify(saved.data) })
      .execute()
    await sixHours()
    expect((await find(shop, '1002')).get('1002')).toMatchObject({ exists: true })
    expect(toldOf(shop).at(-1)).toEqual(['1002'])
  })

  test('a product that changed is read at once, and only it is told of', async () => {
    const shop = await connectedStore(app)
    await app.advance(1000)
    await putProduct(shop.platform, { ...twoProducts[0]!, name: 'Caneca azul' })
    await putProduct(shop.platform, { ...twoProducts[1]!, name: 'Avental novo' })
    await deliver(shop, 'product.updated', '1001')
    const found = await find(shop, '1001', '1002')
    expect(found.get('1001')!.name).toBe('Caneca azul')
    expect(found.get('1002')!.name).toBe('Avental')
    expect(toldOf(shop).at(-1)).toEqual(['1001'])
    expect((await mirror(shop)).revision).toBe(2)
  })

  test('stock is told of by variant: the product is read', async () => {
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
    expect(snapshots.statusOf(found)).toBe('out-of-stock')
    expect(snapshots.statusOf(found, '2001')).toBe('out-of-stock')
    expect(snapshots.statusOf(found, '9999')).toBe('missing')
  })

  test('an older word never replaces a newer one', async () => {
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

  test('the storefront shows a change, and has another ETag', async () => {
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

  test('a platform that does not answer leaves all as it was', async () => {
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

describe('products and categories that somebody names', () => {
  test('are known by the mirror, without asking', async () => {
    const shop = await connectedStore(app)
    await outage(shop, 'down')
    const found = await snapshots.requireProducts(await shop.context(), ['1001', '1002'], 'productIds')
    expect(found.get('1002')!.name).toBe('Avental')
    await outage(shop, 'up')
  })

  test('are asked for once where the mirror does not have them', async () => {
    const shop = await connectedStore(app)
    await putProduct(shop.platform, { id: '1003', name: 'Bule', variants: [{ id: '2004', price: 80 }] })
    const found = await snapshots.requireProducts(await shop.context(), ['1001', '1003'], 'productIds')
    expect(found.get('1003')!.name).toBe('Bule')
    await outage(shop, 'down')
    expect((await snapshots.requireProducts(await shop.context(), ['1003'], 'x')).size).toBe(1)
    await outage(shop, 'up')
  })

  test('that the platform does not have are refused, named', async () => {
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

  test('a category is known by the platform, or by a product in it', async () => {
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

  test('need a platform, and never ask it inside a transaction', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    await expect(snapshots.requireProducts(ctx, ['1001'], 'productIds')).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(
      ctx.transaction((tx) => snapshots.requireProducts(tx, ['1001'], 'productIds')),
    ).rejects.toThrow("transaction: 'own'")
  })

  test('read live: the mirror learns what changed and what is gone', async () => {
    const shop = await connectedStore(app)
    await app.advance(1000)
    await putProduct(shop.platform, { ...twoProducts[0]!, name: 'Caneca azul', isPublished: false })
    await deleteRows(shop, 'sandbox_objects', { kind: 'product', id: '1002' })
    const found = await snapshots.readLive(await shop.context(), ['1001', '1002', '1099'])
    expect(snapshots.statusOf(found.get('1001'))).toBe('unpublished')
    expect(snapshots.statusOf(found.get('1002'))).toBe('missing')
    expect(found.has('1099')).toBe(false)
  })
})
