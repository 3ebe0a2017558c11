/** Amounts and counts beyond the limits of a column are clamped, and do not block other rows. */
import { expect, test } from 'vitest'
import { upsertCarts } from '#operations/automations/carts/carts'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import listProducts from '#operations/store/connections/api/list-products'
import type { Cart } from '#operations/store/ecommerce/port'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { upsertOrders } from '#operations/store/orders/orders'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'

const app = await testApp()
const most = 999_999_999_999.99

test('orders and carts with huge amounts are stored with the others', async () => {
  const shop = await connectedStore(app)
  const [order, other] = [await shop.place({}), await shop.place({})]
  const item = {
    ...order.items[0]!,
    quantity: 3_000_000_000,
    unitPrice: '1500000.00',
    total: '4500000000000000.00',
  }
  const huge = { ...order, items: [item], subtotal: item.total, total: item.total }
  const ctx = await shop.context()
  expect(await ctx.transaction((tx) => upsertOrders(tx, [huge, other]))).toEqual([order.id, other.id])
  await app.drainJobs()
  const rows = await ctx.db.selectFrom('orders').select(['id', 'total']).orderBy('id').execute()
  expect(rows).toEqual([
    { id: order.id, total: String(most) },
    { id: other.id, total: '100.00' },
  ])
  const cart: Cart = {
    ...{ id: 'c1', customer: order.customer, items: [item], total: item.total, currency: 'BRL' },
    ...{ url: 'https://shop.example.com/c1', orderId: null, lastActivityAt: order.updatedAt },
  }
  const carts = [cart, { ...cart, id: 'c2', items: [], total: '19.999' }]
  expect(await ctx.transaction((tx) => upsertCarts(tx, carts))).toHaveLength(2)
  const kept = await ctx.db.selectFrom('carts').select(['id', 'total']).orderBy('id').execute()
  expect(kept.map(({ total }) => total)).toEqual([String(most), '20.00'])
  await app.drainJobs()
})

test('placeholder prices and unlimited stock break neither the catalog cache nor sums in answers', async () => {
  const shop = await connectedStore(app)
  const variant = { sku: null, price: 19.999, stock: 1_000_000_000 }
  await putProducts(shop.platform, [
    { id: '7', name: 'Sob consulta', variants: [{ ...variant, id: '70', price: 5e12 }] },
    { id: '8', name: 'Sempre', variants: ['80', '81', '82'].map((id) => ({ ...variant, id })) },
  ])
  await (await shop.context()).queue(productSnapshotsRefresh, { productIds: ['7', '8'] })
  await app.drainJobs()
  const snapshots = (await shop.context()).db.selectFrom('product_snapshots')
  expect(
    await snapshots
      .select(['price', 'stock'])
      .where('product_id', 'in', ['7', '8'])
      .orderBy('product_id')
      .execute(),
  ).toEqual([
    { price: String(most), stock: 1_000_000_000 },
    { price: '20.00', stock: 2_147_483_647 },
  ])
  const live = await shop.call(listProducts, { query: { ids: '7,8', sort: 'price' } })
  expect(live.body.data).toMatchObject([{ price: 20, stock: 2_147_483_647 }, { price: most }])
  const items = [{ productId: '7', quantity: 2 }]
  const body = { name: 'Dois', items, discountType: 'percentage', discountValue: 10 }
  expect((await shop.call(createBundle, { body })).status).toBe(201)
  const { status, body: bundles } = await shop.call(listBundles)
  expect([status, bundles.data[0].regularPrice]).toEqual([200, most])
})
