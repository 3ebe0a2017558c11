/** A store connected to its shop on the sandbox's platform, with webhooks. */
import { connectEcommerce } from '#operations/store/connections/connections'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { type ProductInput, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import {
  changeOrder,
  createOrder,
  type OrderChange,
  type OrderInput,
} from '#operations/store/ecommerce/sandbox-orders'
import type { Shop as SandboxShop } from '#operations/store/ecommerce/sandbox-rows'
import { buildOrderDeliveries } from '#operations/store/ecommerce/sandbox-webhooks'
import type { TestApp } from './app.ts'
import { type Shop, store } from './store.ts'

export interface ConnectedShop extends Shop {
  platform: SandboxShop
  /** Places an order on the platform, without a webhook yet. */
  place(input: Partial<OrderInput>): Promise<PlatformOrder>
  change(order: { id: string }, change: OrderChange): Promise<PlatformOrder>
  /** Delivers the platform's webhook of a changed order. */
  deliver(order: PlatformOrder): Promise<Response[]>
  /** Places an order, delivers its webhook and runs the jobs. */
  sell(input: Partial<OrderInput>): Promise<PlatformOrder>
  /** Changes an order, delivers its webhook and runs the jobs. */
  resell(order: { id: string }, change: OrderChange): Promise<PlatformOrder>
}

/** Two products in the shop: `1001` (variants `2001` at 120, `2002` at 60) and `1002` (variant `2003` at 100). */
export const twoProducts: readonly ProductInput[] = [
  {
    id: '1001',
    name: 'Caneca',
    variants: [
      { id: '2001', sku: 'CAN-1', price: 120, stock: 50 },
      { id: '2002', sku: 'CAN-2', price: 60, stock: 50 },
    ],
  },
  { id: '1002', name: 'Avental', variants: [{ id: '2003', sku: 'AVE-1', price: 100, stock: 50 }] },
]

export async function connectedStore(
  app: TestApp,
  options: Parameters<typeof store>[1] = {},
): Promise<ConnectedShop> {
  const shop = await store(app, options)
  const platform = { db: app.database.root, clock: app.clock, storeId: shop.id }
  await putProducts(platform, twoProducts)
  await connectEcommerce(await shop.context(), 'sandbox', { token: 'sandbox' })
  await app.drainJobs()
  const deliver = async (order: PlatformOrder): Promise<Response[]> => {
    const deliveries = await buildOrderDeliveries(platform, order)
    return Promise.all(
      deliveries.map(async ({ url, headers, body }) =>
        app.fetch(new Request(url, { method: 'POST', headers, body }), { ip: '127.0.0.1' }),
      ),
    )
  }
  const place: ConnectedShop['place'] = (input) =>
    createOrder(platform, {
      customer: { name: 'Ana', email: 'ana@example.com', phone: '+5511988887777' },
      items: [{ variantId: '2003', quantity: 1 }],
      ...input,
    })
  const change: ConnectedShop['change'] = async (order, what) =>
    (await changeOrder(platform, order.id, what))!
  const announced = async (order: PlatformOrder): Promise<PlatformOrder> => {
    await deliver(order)
    await app.drainJobs()
    return order
  }
  return {
    ...shop,
    platform,
    place,
    change,
    deliver,
    sell: async (input) => announced(await place(input)),
    resell: async (order, what) => announced(await change(order, what)),
  }
}
