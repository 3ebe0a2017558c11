/** The demo's wishlists and the purchases from them. */

import type { RootDatabase } from '#db/database'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { dayMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import type { DemoStore } from './demo-store.ts'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'

const randomName = 'aurora wishlist'
const visitorsInAll = 160
const contactsInAll = 90
const buyersInAll = 20
/** Favourites of most visitors. */
const favourites = ['1012', '1014', '1002', '1017', '1024', '1028', '1005', '1010']

type Wish = SeedRow<'wishes'>

const toVisitorId = (number: number): string => `demo-wishes-${String(number).padStart(6, '0')}`

function buildWish({ slug }: DemoStore, visitor: number, product_id: string, added_at: Date): Wish {
  const id = idFromName(`${slug} wish ${visitor} ${product_id}`, added_at.getTime())
  return { id, visitor_id: toVisitorId(visitor), product_id, variant_id: '', added_at }
}

/** 160 visitors, 420 wishes over 60 days, 45 of them removed. */
export async function seedAuroraWishlist(db: RootDatabase, store: DemoStore, shop: DemoShop): Promise<void> {
  const random = new Random(randomName)
  const buyers = listBuyers(shop, store, random)
  const wishes = new Map<string, Wish>()
  const add = (visitor: number, productId: string, at: Date): void => {
    const key = `${visitor} ${productId}`
    if (!wishes.has(key)) wishes.set(key, buildWish(store, visitor, productId, at))
  }
  const addAny = (visitor: number): void => {
    const product = random.chance(0.7)
      ? favourites[Math.floor(favourites.length * random.next() ** 1.6)]!
      : String(1001 + random.whole(0, 38))
    add(visitor, product, store.timeline.ago(random.between(0.1, 59.5)))
  }
  for (const [visitor, { order }] of buyers.entries()) {
    const at = new Date(Date.parse(order.placedAt) - random.between(0.2 * dayMs, 12 * dayMs))
    add(visitor, order.items[0]!.productId!, at)
  }
  for (let visitor = buyers.length; visitor < visitorsInAll; visitor += 1) addAny(visitor)
  while (wishes.size < 420) addAny(Math.floor(visitorsInAll * random.next() ** 1.5))
  const rows = [...wishes.values()]
  // Not the first ones, which were bought.
  const removed = new Set(random.shuffled(rows.slice(buyers.length)).slice(0, 45))
  const withEnd = rows.map((row) => {
    const ms = random.between(0.05, 0.9) * (store.timeline.now.getTime() - row.added_at.getTime())
    return { ...row, removed_at: removed.has(row) ? new Date(row.added_at.getTime() + ms) : null }
  })
  await insertRows(db, 'wishes', store.id, withEnd)
  const bought = new Set(buyers.map(({ customer }) => customer))
  const others = random.shuffled(shop.customers.filter((each) => !bought.has(each)))
  const contacts = [...bought, ...others].slice(0, contactsInAll).map((customer, visitor) => {
    const added = rows
      .filter((row) => row.visitor_id === toVisitorId(visitor))
      .map((row) => row.added_at.getTime())
    return contactRow(customer, visitor, new Date(Math.min(...added)), random)
  })
  await insertRows(db, 'wishlist_visitors', store.id, contacts)
  const intoCart = Map.groupBy(
    rows.filter(() => random.chance(0.2)),
    (wish) => `${store.timeline.localDay(wish.added_at)} ${wish.product_id}`,
  )
  const days = [...intoCart].map(([key, all]) => {
    const [day, product_id] = key.split(' ') as [string, string]
    return { day, product_id, cart_adds: all.length }
  })
  await insertRows(db, 'wishlist_cart_days', store.id, days)
}

interface Buyer {
  customer: Customer
  order: PlatformOrder
}

/** Customers with a paid order of the last six weeks, each with one. */
function listBuyers(shop: DemoShop, store: DemoStore, random: Random): Buyer[] {
  const since = store.timeline.ago(42).toISOString()
  const customers = new Map(shop.customers.map((customer) => [customer.id, customer]))
  const found = new Map<string, Buyer>()
  for (const order of random.shuffled(shop.orders)) {
    const customer = customers.get(order.customer.id ?? '')
    if (!customer || order.paymentStatus !== 'paid' || order.placedAt < since) continue
    if (!found.has(customer.id)) found.set(customer.id, { customer, order })
  }
  return [...found.values()].slice(0, buyersInAll)
}

/** The orders of wishlist buyers: later steps must use others. */
export const wishlistOrders = (shop: DemoShop, store: DemoStore): Set<PlatformOrder> =>
  new Set(listBuyers(shop, store, new Random(randomName)).map(({ order }) => order))

function contactRow(
  { name, email, phone }: Customer,
  visitor: number,
  at: Date,
  random: Random,
): SeedRow<'wishlist_visitors'> {
  const both = random.chance(0.4)
  const kept = both || random.chance(0.7) ? email : null
  const reached = both || kept === null ? phone : null
  return {
    visitor_id: toVisitorId(visitor),
    email: kept,
    phone: reached,
    phone_key: reached && phoneKey(reached),
    name,
    consent: random.chance(0.8),
    created_at: at,
    updated_at: at,
  }
}
