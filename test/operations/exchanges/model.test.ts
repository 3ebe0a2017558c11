/**
 * Model test of requests, decisions and refunds of one order in any sequence: promises, credits and refunds never exceed the
 * payment, by line and in total, and no unit is requested twice.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { putOrders } from '#operations/store/ecommerce/sandbox-orders'
import { testApp } from '#test/support/app'
import { runs } from '#test/support/suite'
import { ana, type ExchangeShop, exchangeShop } from './shopper.ts'
import { approve, confirm, read, received, reject, remove, requested } from './support.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-09-01T12:00:00.000Z')

const cents = (amount: number | string): number => Math.round(Number(amount) * 100)

type Command =
  | { is: 'ask'; line: number; units: number; isReturn: boolean }
  | { is: 'approve' | 'receive' | 'complete' | 'reject' | 'cancel' | 'remove'; at: number; part: number }
  | { is: 'refund'; at: number }
  | { is: 'refund-alone'; line: number }

const which = fc.nat({ max: 5 })
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('ask' as const),
      line: fc.nat({ max: 2 }),
      units: fc.integer({ min: 1, max: 2 }),
      isReturn: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constantFrom('approve', 'receive', 'complete', 'complete', 'reject', 'cancel', 'remove'),
      at: which,
      part: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('refund' as const), at: which }) },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant('refund-alone' as const), line: fc.nat({ max: 2 }) }),
  },
)

/** A request as the merchant reads it. */
interface Known {
  id: string
  line: number
  statusUrl: string
  status: string
  units: number
  worth: number
  isRefunded: boolean
}
const holding = new Set(['requested', 'approved', 'in-transit', 'received', 'completed'])

class Model {
  readonly requests: Known[] = []
  /** Refunds without a request, by line. */
  readonly alone = [0, 0, 0]
  readonly aloneCents = [0, 0, 0]
  readonly shop: ExchangeShop
  order: PlatformOrder
  constructor(shop: ExchangeShop, order: PlatformOrder) {
    this.shop = shop
    this.order = order
  }

  held(line: number): Known[] {
    return this.requests.filter((each) => each.line === line && holding.has(each.status))
  }

  free(line: number): number {
    const held = this.held(line).reduce((sum, { units }) => sum + units, 0)
    // A refund before the request ends counts twice until then.
    const early = this.held(line).filter((each) => each.isRefunded && each.status !== 'completed')
    const twice = early.reduce((sum, { units }) => sum + units, 0)
    return this.order.items[line]!.quantity - held - this.alone[line]! - twice
  }

  async run(each: Command): Promise<void> {
    const { shop } = this
    if (each.is === 'ask') {
      const item = this.order.items[each.line]!
      const asking = {
        type: each.isReturn ? ('return' as const) : ('exchange' as const),
        items: [
          {
            orderItemId: item.id,
            quantity: each.units,
          },
        ],
      }
      if (each.units > this.free(each.line) || this.order.paymentStatus === 'refunded') {
        expect((await shop.ask(this.order, asking)).status).toBe(409)
        return
      }
      const { id, statusUrl } = await requested(shop, { ...asking, order: this.order })
      this.requests.push({
        id,
        line: each.line,
        statusUrl,
        status: '',
        units: 0,
        worth: 0,
        isRefunded: false,
      })
      return
    }
    if (each.is === 'refund-alone') {
      if (this.free(each.line) < 1 || this.held(each.line).length > 0) return
      const before = cents(this.order.refundedTotal)
      await this.refund([{ variantId: `${each.line}-a`, quantity: 1 }])
      this.alone[each.line]! += 1
      this.aloneCents[each.line]! += cents(this.order.refundedTotal) - before
      return
    }
    const known = this.requests[each.at]
    if (!known || known.status === 'gone') return
    if (each.is === 'refund') {
      if (known.status !== 'completed' || known.isRefunded) return
      if (cents(this.order.refundedTotal) + known.worth > cents(this.order.total)) return
      await this.refund([{ variantId: `${known.line}-a`, quantity: known.units }], known.worth / 100)
      known.isRefunded = true
      return
    }
    await this.decide(each.is, known, each.part)
  }

  async decide(is: string, known: Known, part: number): Promise<void> {
    const { shop } = this
    if (is === 'approve') {
      const { body } = await read(shop, known.id)
      const { id, quantity } = body.items[0]
      await approve(shop, known.id, { items: [{ id, approvedQuantity: Math.min(part, quantity) }] })
    } else if (is === 'receive') await received(shop, known.id)
    else if (is === 'complete') await confirm(shop, known.id)
    else if (is === 'reject') await reject(shop, known.id)
    else if (is === 'cancel') await shop.follow(known.statusUrl, '/cancel', {})
    else if (known.status !== 'completed' && (await remove(shop, known.id)).status === 204)
      known.status = 'gone'
  }

  async refund(refundItems: { variantId: string; quantity: number }[], refundAmount?: number): Promise<void> {
    this.order = await this.shop.change(this.order, { refundItems, refundAmount })
  }

  async check(): Promise<void> {
    for (const known of this.requests) {
      if (known.status === 'gone') continue
      const { body } = await read(this.shop, known.id)
      const [item] = body.items
      known.status = body.status
      known.units = item.approvedQuantity ?? item.quantity
      known.worth = cents(body.status === 'completed' ? (body.refundAmount ?? body.amount) : body.amount)
      if (!holding.has(body.status)) expect(body.refundAmount).toBeNull()
      expect(body.currency).toBe(this.order.currency)
      expect(known.worth).toBeGreaterThanOrEqual(0)
    }
    let promised = 0
    for (const [line, item] of this.order.items.entries()) {
      const held = this.held(line)
      const units = held.reduce((sum, each) => sum + each.units, 0) + this.alone[line]!
      expect(units).toBeLessThanOrEqual(item.quantity)
      const worth = held.reduce((sum, each) => sum + each.worth, 0) + this.aloneCents[line]!
      expect(worth).toBeLessThanOrEqual(cents(item.total))
      // All units of a line sum to the line.
      if (units === item.quantity && held.length > 0 && held.every(({ isRefunded }) => !isRefunded)) {
        expect(worth).toBe(cents(item.total))
      }
      promised += worth
    }
    expect(promised).toBeLessThanOrEqual(cents(this.order.total))
  }
}

test('promises and refunds never exceed the payment', async () => {
  const shop = await exchangeShop(app, { exchangeScope: 'any-product' })
  const prices = [69.9, 33.35, 10.01]
  await putProducts(
    shop.platform,
    prices.map((price, line) => ({
      id: `line-${line}`,
      name: `Line ${line}`,
      variants: ['a', 'b'].map((name) => ({ id: `${line}-${name}`, sku: name, price, stock: 5000 })),
    })),
  )
  await app.drainJobs()
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 8, maxLength: 14 }), async (commands) => {
      const order = await shop.place({
        customer: ana,
        items: prices.map((_price, line) => ({ variantId: `${line}-a`, quantity: 3 })),
        shipping: 12.5,
      })
      // Line totals that are not divisible by their units, as after a discount.
      order.items[0]!.total = '209.69'
      order.items[1]!.total = '100.04'
      await putOrders(shop.platform, [order])
      const delivered = await shop.change(order, { fulfillmentStatus: 'delivered' })
      const model = new Model(shop, delivered)
      for (const each of commands) {
        await model.run(each)
        await model.check()
      }
    }),
    { ...runs(5), interruptAfterTimeLimit: 60_000 },
  )
})
