/** The demo's wishlists: who wished for what, and what was bought of it. */
import { defaultWishlistSettings } from '#operations/product-page/wishlist/settings'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import type { Context } from '#runtime/context'
import { localDay } from '#runtime/database/days'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { dayMs } from './timeline.ts'

const randomName = 'aurora wishlist'
const visitorsInAll = 160
const contactsInAll = 90
const buyersInAll = 20
const wishesInAll = 420
const removedInAll = 45
const daysBack = 60
/** What most visitors wish for. */
const favourites = ['1012', '1014', '1002', '1017', '1024', '1028', '1005', '1010']

type Wish = SeedRow<'wishes'>

/** Enabled, 160 visitors, 420 wishes over 60 days. Once orders and the mirror of the catalog are there. */
export async function seedAuroraWishlist(ctx: Context, store: DemoStore, shop: DemoShop): Promise<void> {
  const random = new Random(randomName)
  const buyers = buyersOf(shop, store, random)
  const bought = new Set(buyers.map(({ customer }) => customer.id))
  const others = random.shuffled(shop.customers.filter(({ id }) => !bought.has(id)))
  const customers = [
    ...buyers.map(({ customer }) => customer),
    ...others.slice(0, contactsInAll - buyers.length),
  ]
  const wishes = new Wishes(store, random)
  for (const [at, { order }] of buyers.entries()) {
    const placed = new Date(order.placedAt).getTime()
    const addedAt = new Date(placed - random.between(0.2 * dayMs, 12 * dayMs))
    wishes.add(at, order.items[0]!.productId!, addedAt)
  }
  for (let visitor = buyers.length; visitor < visitorsInAll; visitor += 1) wishes.addAny(visitor)
  while (wishes.rows.length < wishesInAll) {
    wishes.addAny(Math.floor(visitorsInAll * random.next() ** 1.5))
  }
  wishes.removeSome(buyers.length)
  await insertRows(ctx.system, 'wishes', store.id, wishes.rows)
  const contacts = customers.map((customer, at) => contactRow(store, wishes, customer, at, random))
  await insertRows(ctx.system, 'wishlist_visitors', store.id, contacts)
  await insertRows(ctx.system, 'wishlist_cart_days', store.id, cartRows(store, wishes.rows, random))
  await insertRows(ctx.system, 'widget_settings', store.id, [
    {
      key: 'wishlist',
      content: {
        ...defaultWishlistSettings,
        isEnabled: true,
        contactFields: ['email', 'phone'],
        addText: 'Quero este',
        addedText: 'Na sua lista',
        pageTitle: 'Minha lista',
        emptyText: 'Sua lista está vazia',
      },
      updated_at: store.timeline.ago(61),
    },
  ])
}

/** Two products in one visitor's list. */
export async function seedBorealisWishlist(ctx: Context, store: DemoStore): Promise<void> {
  const wishes = new Wishes(store, new Random('borealis wishlist'))
  wishes.add(0, '1001', store.timeline.ago(9))
  wishes.add(0, '1003', store.timeline.ago(4))
  await insertRows(ctx.system, 'wishes', store.id, wishes.rows)
}

interface Buyer {
  customer: Customer
  order: PlatformOrder
}

/** Customers with a paid order of the last six weeks, each with one. */
function buyersOf(shop: DemoShop, store: DemoStore, random: Random): Buyer[] {
  const since = store.timeline.ago(42).toISOString()
  const customers = new Map(shop.customers.map((customer) => [customer.id, customer]))
  const found = new Map<string, Buyer>()
  for (const order of random.shuffled(shop.orders)) {
    const customer = customers.get(order.customer.id ?? '')
    const isPaid = order.paymentStatus === 'paid' && order.status !== 'cancelled'
    if (!customer || !isPaid || order.placedAt < since || found.has(customer.id)) continue
    found.set(customer.id, { customer, order })
    if (found.size === buyersInAll) break
  }
  return [...found.values()]
}

/** The orders of wishlist buyers: later steps take others. */
export const wishlistOrders = (shop: DemoShop, store: DemoStore): Set<PlatformOrder> =>
  new Set(buyersOf(shop, store, new Random(randomName)).map(({ order }) => order))

class Wishes {
  readonly rows: Wish[] = []
  readonly #store: DemoStore
  readonly #random: Random
  readonly #known = new Set<string>()

  constructor(store: DemoStore, random: Random) {
    this.#store = store
    this.#random = random
  }

  add(visitor: number, productId: string, at: Date): void {
    const key = `${visitor} ${productId}`
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.rows.push({
      id: namedId(`${this.#store.slug} wish ${key}`, at.getTime()),
      visitor_id: visitorOf(visitor),
      product_id: productId,
      variant_id: '',
      added_at: at,
      removed_at: null,
    })
  }

  addAny(visitor: number): void {
    const random = this.#random
    const productId = random.chance(0.7)
      ? favourites[Math.floor(favourites.length * random.next() ** 1.6)]!
      : String(1001 + random.whole(0, 38))
    this.add(visitor, productId, this.#store.timeline.ago(random.between(0.1, daysBack - 0.5)))
  }

  /** All but the first ones, which were bought. */
  removeSome(kept: number): void {
    for (const row of this.#random.shuffled(this.rows.slice(kept)).slice(0, removedInAll)) {
      const most = this.#store.timeline.now.getTime() - row.added_at.getTime()
      row.removed_at = new Date(row.added_at.getTime() + this.#random.between(0.05, 0.9) * most)
    }
  }
}

const visitorOf = (number: number): string => `demo-wishes-${String(number).padStart(6, '0')}`

function contactRow(
  store: DemoStore,
  wishes: Wishes,
  { name, email, phone }: Customer,
  at: number,
  random: Random,
): SeedRow<'wishlist_visitors'> {
  const added = wishes.rows.filter((row) => row.visitor_id === visitorOf(at)).map((row) => row.added_at)
  const left = new Date(Math.min(...added.map((each) => each.getTime())))
  const both = random.chance(0.4)
  const kept = both || random.chance(0.7) ? email : null
  const reached = both || kept === null ? phone : null
  return {
    visitor_id: visitorOf(at),
    email: kept,
    phone: reached,
    phone_key: reached === null ? null : phoneKey(reached),
    name,
    consent: random.chance(0.8),
    created_at: store.timeline.notAfterNow(left),
    updated_at: store.timeline.notAfterNow(left),
  }
}

function cartRows(
  store: DemoStore,
  wishes: readonly Wish[],
  random: Random,
): SeedRow<'wishlist_cart_days'>[] {
  const days = new Map<string, SeedRow<'wishlist_cart_days'>>()
  for (const wish of wishes) {
    if (!random.chance(0.2)) continue
    const day = localDay(wish.added_at, store.timeline.zone)
    const key = `${day} ${wish.product_id}`
    const row = days.get(key) ?? { day, product_id: wish.product_id, cart_adds: 0 }
    days.set(key, { ...row, cart_adds: (row.cart_adds ?? 0) + 1 })
  }
  return [...days.values()]
}
