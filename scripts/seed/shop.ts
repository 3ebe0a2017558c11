/** The sandbox's shops: catalog, customers, orders, and our copies of the orders. */
import type { RootDatabase } from '#db/database'
import { registerWebhooks, requireEcommerce } from '#operations/store/connections/connections'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { putCategories, putCustomers, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { putOrders } from '#operations/store/ecommerce/sandbox-orders'
import { advanceCursor, readOrderCursor, saveOrderCursor } from '#operations/store/orders/cursor'
import { toItemRows, toOrderRow } from '#operations/store/orders/order-rows'
import type { Clock } from '#runtime/clock'
import type { Context } from '#runtime/context'
import { chooseForAutomations } from './automation-orders.ts'
import { buildCatalog, type Catalog } from './catalog.ts'
import type { DemoStore } from './demo-store.ts'
import {
  type Customer,
  type CustomerGroups,
  groupCustomers,
  type OrderSource,
  type PlannedOrder,
  planOrders,
} from './order-plan.ts'
import { makeOrders } from './orders.ts'
import { american, brazilian, type Person } from './people.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'

/** An order that gets its touch in a later step. */
interface AttributedOrder {
  plan: PlannedOrder
  order: PlatformOrder
}

export interface DemoShop {
  customers: Customer[]
  orders: PlatformOrder[]
  /** The orders with this source, oldest first. */
  attributed(source: OrderSource): AttributedOrder[]
}

/** 40 products, 300 customers, 900 orders. */
export async function seedAuroraShop(
  db: RootDatabase,
  clock: Clock,
  store: DemoStore,
): Promise<DemoShop & { groups: CustomerGroups }> {
  const { catalog, customers, groups, plans, random } = planAurora(store)
  return { ...(await openShop(db, clock, store, catalog, customers, plans, random)), groups }
}

/** The plan depends on the moment of seeding; `random` continues with the orders' contents. */
export function planAurora({ timeline, pictures }: Pick<DemoStore, 'timeline' | 'pictures'>) {
  const random = new Random('aurora shop')
  const catalog = buildCatalog('aurora-supply', timeline, random, pictures)
  const customers = makeCustomers(300, random, brazilian)
  const groups = groupCustomers(customers, random)
  return {
    catalog,
    customers,
    groups,
    plans: planOrders(groups, timeline, random, chooseForAutomations),
    random,
  }
}

/** 5 products, 10 customers, 12 orders, 3 of them by subscribers of the popup. */
export async function seedBorealisShop(db: RootDatabase, clock: Clock, store: DemoStore): Promise<DemoShop> {
  const random = new Random('borealis shop')
  const catalog = buildCatalog('borealis-goods', store.timeline, random, store.pictures)
  const customers = makeCustomers(10, random, american)
  const plans = [...customers, ...customers.slice(8)].map(
    (customer, index): PlannedOrder => ({
      placedAt: store.timeline.ago(90 - index * 8 + random.between(0, 2)),
      customer,
      state: 'paid',
      currency: 'USD',
      coupon: null,
      source: index >= 7 && index <= 9 ? 'newsletter' : null,
    }),
  )
  return openShop(db, clock, store, catalog, customers, plans, random)
}

/** Makes customers with ids from `5001` on; the phone of each ends with the id. */
function makeCustomers(
  count: number,
  random: Random,
  makePerson: (random: Random, number: number) => Person,
): Customer[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(5001 + index),
    ...makePerson(random, 5001 + index),
    birthDate: new Date(Date.UTC(random.whole(1958, 2004), random.whole(0, 11), random.whole(1, 28)))
      .toISOString()
      .slice(0, 10),
    acceptsMarketing: random.chance(0.8),
  }))
}

async function openShop(
  db: RootDatabase,
  clock: Clock,
  store: DemoStore,
  catalog: Catalog,
  customers: Customer[],
  plans: PlannedOrder[],
  random: Random,
): Promise<DemoShop> {
  const shop = { db, clock, storeId: store.id }
  const { domain, country, timeline } = store
  const orders = makeOrders(
    plans,
    { domain, country, products: catalog.products, firstId: 9001 },
    timeline,
    random,
  )
  await putCategories(shop, catalog.categories)
  await putProducts(shop, catalog.products)
  await putCustomers(shop, customers)
  await putOrders(shop, orders)
  await saveOrders(db, store, orders)
  return {
    customers,
    orders,
    attributed: (source) =>
      plans.flatMap((plan, index) => (plan.source === source ? [{ plan, order: orders[index]! }] : [])),
  }
}

/** Registers webhooks at the platform, and records that all its orders have been read. Outside a transaction. */
export async function finishPlatformSetup(ctx: Context, shop: DemoShop): Promise<void> {
  const connected = await requireEcommerce(ctx)
  await registerWebhooks(ctx, connected)
  const cursor = advanceCursor(await readOrderCursor(ctx), { orders: shop.orders, next: null })
  await saveOrderCursor(ctx, connected.connectedAt, cursor)
}

async function saveOrders(db: RootDatabase, store: DemoStore, orders: PlatformOrder[]): Promise<void> {
  await insertRows(
    db,
    'orders',
    store.id,
    orders.map((order) => toOrderRow(order, store.country) as unknown as SeedRow<'orders'>),
  )
  await insertRows(db, 'order_items', store.id, orders.flatMap(toItemRows))
}
