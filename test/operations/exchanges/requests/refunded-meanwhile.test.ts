/**
 * Refunds at the platform while a request waits: every step promises only what the order, as it is then, has left
 * (exchanges, rule 3).
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import type { OrderChange } from '#operations/store/ecommerce/sandbox-orders'
import { type ExchangeShop, exchangeShop } from '#test/operations/exchanges/shopper'
import {
  approve,
  confirm,
  listEvents,
  type Requested,
  read,
  received,
  reject,
  requested,
} from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { runs } from '#test/support/suite'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-09-01T12:00:00.000Z')

/** Two units of 120.00 of variant 2001, all requested. */
const both = (shop: ExchangeShop, asking = {}): Promise<Requested> =>
  requested(shop, { items: [{ quantity: 2 }], ...asking })
const units = (quantity: number): OrderChange => ({ refundItems: [{ variantId: '2001', quantity }] })
const gone: [string, OrderChange, string][] = [
  ['both units were refunded', units(2), 'was refunded at the platform'],
  ['all was refunded without naming units', { refundAmount: 240 }, 'Nothing of BRL 240.00'],
  ['the payment was charged back', { paymentStatus: 'refunded' }, 'Nothing of BRL 240.00'],
  ['the payment was voided', { paymentStatus: 'voided' }, 'was voided'],
  ['the order is not paid any more', { paymentStatus: 'pending' }, 'is not paid'],
]

describe.each(gone)('%s', (_title, change, reason) => {
  test('before the approval: it is refused, and the request can be rejected', async () => {
    const shop = await exchangeShop(app)
    for (const type of ['return', 'exchange'] as const) {
      const { id, order } = await both(shop, { type })
      await shop.change(order, change)
      expect(await approve(shop, id)).toMatchObject(refused(409, reason))
      expect((await read(shop, id)).body).toMatchObject({ status: 'requested', approvedAt: null })
      expect((await reject(shop, id)).status).toBe(200)
    }
  })

  test('before the completion: it is completed only without another refund', async () => {
    const shop = await exchangeShop(app)
    const { id, order } = await both(shop)
    await approve(shop, id)
    await shop.change(order, change)
    expect(await confirm(shop, id)).toMatchObject(refused(409, reason))
    expect(await confirm(shop, id, { refundAmount: 240 })).toMatchObject(refused(409, reason))
    expect(await confirm(shop, id, { refundAmount: 0 })).toMatchObject({
      status: 200,
      body: {
        status: 'completed',
        amount: 0,
        refundAmount: 0,
        amountReason: expect.stringContaining(reason),
      },
    })
    const exchange = await both(shop, { type: 'exchange' })
    await approve(shop, exchange.id)
    await shop.change(exchange.order, change)
    expect(await confirm(shop, exchange.id)).toMatchObject(refused(409, 'exchangeOrderId'))
    expect((await received(shop, exchange.id)).body).toMatchObject({ status: 'received', amount: 0 })
    expect((await confirm(shop, exchange.id, { exchangeOrderId: '1002' })).status).toBe(200)
  })
})

test('a smaller amount is promised with the reason, to the merchant and to the shopper', async () => {
  const shop = await exchangeShop(app)
  const { id, order, statusUrl } = await both(shop)
  await shop.change(order, units(1))
  const reason = `Only BRL 120.00 of BRL 240.00 can still be refunded: order ${order.number} was paid with BRL 240.00, BRL 120.00 was refunded at the platform`
  expect((await approve(shop, id)).body).toMatchObject({ amount: 120, amountReason: reason })
  expect((await shop.follow(statusUrl)).body).toMatchObject({
    amount: 120,
    amountReason: expect.stringContaining('refunded already'),
  })
  await shop.change(order, { refundAmount: 50 })
  expect(await confirm(shop, id, { refundAmount: 120 })).toMatchObject(refused(409, 'at most 70.00'))
  expect((await confirm(shop, id)).body).toMatchObject({ amount: 70, refundAmount: 70 })
  expect((await listEvents(shop, id)).filter((event) => event === 'order-refunded')).toHaveLength(2)

  const exchange = await both(shop, { type: 'exchange' })
  const { priceDifference } = (await read(shop, exchange.id)).body
  await shop.change(exchange.order, units(1))
  expect((await approve(shop, exchange.id)).body).toMatchObject({
    amount: 120,
    priceDifference: priceDifference + 120,
  })
})

test('a refund of shipping or of another line lowers no promise', async () => {
  const shop = await exchangeShop(app)
  const lines = [
    { variantId: '2001', quantity: 1 },
    { variantId: '2002', quantity: 1 },
  ]
  const order = await shop.delivered({ items: lines, shipping: 12.5 })
  const { id } = await requested(shop, { order })
  await shop.change(order, { refundAmount: 12.5 })
  await shop.change(order, { refundItems: [{ variantId: '2002', quantity: 1 }] })
  expect((await approve(shop, id)).body).toMatchObject({ amount: 120, amountReason: null })
  expect((await confirm(shop, id)).body.refundAmount).toBe(120)
})

test('notices about received and completed requests name the units that came back', async () => {
  const named = { isEnabled: true, subject: 'Arrived', body: '{{items}}' }
  const shop = await exchangeShop(app, { emails: { received: named, completed: named } })
  const email = 'half.of.it@example.com'
  const order = await shop.delivered({ customer: { name: 'Bia Lima', email, phone: '+5511977776666' } })
  const { sessionToken } = (await shop.lookup(order, email)).body
  const { id } = await requested(shop, { order, sessionToken, items: [{ quantity: 2 }] })
  await approve(shop, id)
  const [item] = (await read(shop, id)).body.items
  await confirm(shop, id, { stage: 'received', items: [{ id: item.id, receivedQuantity: 1 }] })
  expect((await confirm(shop, id)).body.refundAmount).toBe(120)
  await app.drainJobs()
  const arrived = (await shop.mails(email)).filter(({ subject }) => subject === 'Arrived')
  expect(arrived).toHaveLength(2)
  for (const { text } of arrived) expect(text).not.toContain('2 ×')
})

type Command =
  | { is: 'ask'; line: number; units: number; isReturn: boolean }
  | { is: 'approve' | 'receive' | 'complete' | 'reject'; at: number; part: number }
  | { is: 'refund-units'; line: number; units: number }
  | { is: 'refund-amount'; amount: number }
  | { is: 'pay-out'; at: number }
  | { is: 'payment'; status: 'voided' | 'pending' | 'paid' | 'refunded' }

const line = fc.nat({ max: 1 })
const some = fc.integer({ min: 1, max: 2 })
const at = fc.nat({ max: 3 })
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ is: fc.constant('ask' as const), line, units: some, isReturn: fc.boolean() }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      is: fc.constantFrom('approve', 'approve', 'receive', 'complete', 'complete', 'reject'),
      at,
      part: some,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('refund-units' as const),
      line,
      units: some,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('refund-amount' as const),
      amount: fc.constantFrom(1250, 3000, 5990, 15_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('pay-out' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('payment' as const),
      status: fc.constantFrom('voided' as const, 'pending' as const, 'paid' as const, 'refunded' as const),
    }),
  },
)

const cents = (amount: number | string): number => Math.round(Number(amount) * 100)
const open = new Set(['requested', 'approved', 'received'])
const isPaid = ({ paymentStatus }: PlatformOrder): boolean =>
  paymentStatus === 'paid' || paymentStatus === 'partially-refunded'

interface Known {
  id: string
  line: number
  status: string
  units: number
  amount: number
  /** The completed request's value that the platform has not refunded yet. */
  owed: number
  /** Refunds of its line's units since the last step that lowered or fixed the promise. */
  named: { cents: number }[]
}

/** Every request of one order, as the merchant reads it, and the platform's refunds. */
class Model {
  readonly requests: Known[] = []
  readonly shop: ExchangeShop
  order: PlatformOrder
  constructor(shop: ExchangeShop, order: PlatformOrder) {
    this.shop = shop
    this.order = order
  }

  get left(): number {
    return isPaid(this.order) ? cents(this.order.total) - cents(this.order.refundedTotal) : 0
  }

  /** The amount that the merchant still has to refund for all requests but one. */
  outstanding(except: Known): number {
    return this.requests
      .filter((each) => each !== except)
      .reduce((sum, each) => sum + (open.has(each.status) ? each.amount : each.owed), 0)
  }

  async refund(change: OrderChange, line: number | null): Promise<void> {
    const before = cents(this.order.refundedTotal)
    this.order = (await this.shop.change(this.order, change).catch(() => this.order)) ?? this.order
    const refund = { cents: cents(this.order.refundedTotal) - before }
    // A refund counts for what completed requests are owed, as far as it goes.
    for (const each of this.requests) {
      const paid = Math.min(each.owed, refund.cents)
      each.owed -= paid
      refund.cents -= paid
    }
    if (line === null || refund.cents === 0) return
    for (const each of this.requests) if (each.line === line) each.named.push(refund)
  }

  async run(each: Command): Promise<void> {
    if (each.is === 'ask') return this.ask(each)
    if (each.is === 'payment') return this.refund({ paymentStatus: each.status }, null)
    if (each.is === 'refund-amount') return this.refund({ refundAmount: each.amount / 100 }, null)
    if (each.is === 'refund-units') {
      const { variantId } = this.order.items[each.line]!
      return this.refund({ refundItems: [{ variantId: variantId!, quantity: each.units }] }, each.line)
    }
    const known = this.requests[each.at]
    if (!known) return
    if (each.is === 'pay-out') {
      if (known.owed > 0) await this.refund({ refundAmount: known.owed / 100 }, null)
      return
    }
    await this.decide(known, each.is, each.part)
  }

  async ask({ line, units, isReturn }: Extract<Command, { is: 'ask' }>): Promise<void> {
    const asked = await this.shop.ask(this.order, {
      type: isReturn ? 'return' : 'exchange',
      items: [
        {
          orderItemId: this.order.items[line]!.id,
          quantity: units,
          ...(isReturn ? {} : { exchangeForVariantId: line === 0 ? '2002' : '2001' }),
        },
      ],
    })
    expect([201, 409]).toContain(asked.status)
    if (asked.status === 409) return
    const rows = await app.database.root
      .selectFrom('exchange_requests')
      .select('id')
      .where('store_id', '=', this.shop.id)
      .where('number', '=', asked.body.number)
      .execute()
    const known = { id: rows[0]!.id, line, status: '', units: 0, amount: 0, owed: 0, named: [] }
    this.requests.push(known)
    await this.refresh(known)
    expect(known.amount).toBeGreaterThan(0)
    this.checkPromise(known)
  }

  async decide(known: Known, is: string, part: number): Promise<void> {
    const { status: before, amount: promised } = known
    if (is === 'reject') await reject(this.shop, known.id)
    else if (is === 'receive') await received(this.shop, known.id)
    else {
      const { body } = await read(this.shop, known.id)
      const { id, quantity } = body.items[0]
      const answer = await (is === 'approve'
        ? approve(this.shop, known.id, { items: [{ id, approvedQuantity: Math.min(part, quantity) }] })
        : confirm(this.shop, known.id))
      expect([200, 409]).toContain(answer.status)
      if (!isPaid(this.order) && is === 'approve') expect(answer.status).toBe(409)
    }
    await this.refresh(known)
    if (known.status === before) return
    const isLess = known.amount < promised
    if (known.status === 'completed') {
      // Units of the line that were refunded since: they count once, unless they lowered the promise.
      const own = isLess ? 0 : known.named.reduce((sum, refund) => sum + refund.cents, 0)
      const counted = Math.min(known.owed, own)
      known.owed -= counted
      this.take(known, counted)
    }
    if (known.status === 'approved' || isLess) known.named = []
    if (is !== 'reject') this.checkPromise(known)
  }

  /** Takes refunds out of the ones that other requests may count. */
  take(known: Known, own: number): void {
    let rest = own
    for (const refund of known.named) {
      const taken = Math.min(rest, refund.cents)
      refund.cents -= taken
      rest -= taken
    }
  }

  async refresh(known: Known): Promise<void> {
    const { body } = await read(this.shop, known.id)
    const [item] = body.items
    const wasCompleted = known.status === 'completed'
    known.status = body.status
    known.units = item.approvedQuantity ?? item.quantity
    known.amount = cents(body.amount)
    if (!wasCompleted && body.status === 'completed') known.owed = cents(body.refundAmount ?? body.amount)
    const worth = known.units * cents(item.unitPrice)
    expect(known.amount).toBeLessThanOrEqual(worth)
    expect(body.amountReason === null, body.amountReason).toBe(known.amount === worth)
  }

  checkPromise(known: Known): void {
    const promised = known.status === 'completed' ? known.owed : known.amount
    if (promised > 0) expect(promised + this.outstanding(known)).toBeLessThanOrEqual(this.left)
  }
}

test('no sequence of refunds, requests and decisions promises more than is left of the payment', async () => {
  const shop = await exchangeShop(app, { exchangeScope: 'any-product' })
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 8, maxLength: 16, size: 'max' }), async (commands) => {
      const order = await shop.delivered({
        items: [
          { variantId: '2001', quantity: 3 },
          { variantId: '2002', quantity: 2 },
        ],
        shipping: 12.5,
      })
      const model = new Model(shop, order)
      for (const each of commands) await model.run(each)
    }),
    { ...runs(30, 3), interruptAfterTimeLimit: 120_000 },
  )
})
