/** Promises for an order never exceed its payment, its currency and the stock. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeLineRemaining, computeRemainingMoney } from '#operations/exchanges/requests/remaining'
import { type ExchangeShop, exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, confirm, read, received, reject, requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { setRows } from '#test/support/rows'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-09-01T12:00:00.000Z')

const left = async (shop: ExchangeShop, order: { number: string }): Promise<number> =>
  (await shop.lookup(order)).body.items[0].availableQuantity

test('an order of another currency can be returned but not exchanged', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered({ currency: 'USD' })
  const message =
    'items.0.exchangeForVariantId: is sold in BRL, and the order was paid in USD: ask for a return'
  expect(await shop.ask(order, { type: 'exchange' })).toMatchObject(refused(400, message))
  const page = await shop.lookup(order)
  expect(page.status).toBe(200)
  expect((await shop.ask(order)).status).toBe(201)
})

test('a request reserves at most the stock of a variant, over all its items', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered({ items: [{ variantId: '2001', quantity: 3 }] })
  await setRows(shop, 'product_snapshot_variants', { stock: 2 }, { variant_id: '2002' })
  const tooMany = await shop.ask(order, { type: 'exchange', items: [{ quantity: 3 }] })
  expect(tooMany).toMatchObject(refused(409, 'only 2 available'))
  const split = [{ quantity: 2 }, { quantity: 1 }]
  expect((await shop.ask(order, { type: 'exchange', items: split })).status).toBe(409)
  expect((await shop.ask(order, { type: 'exchange', items: [{ quantity: 2 }] })).status).toBe(201)
})

test('a rejection clears a recorded refund or new order', async () => {
  const shop = await exchangeShop(app)
  const { id } = await requested(shop)
  await approve(shop, id)
  const paid = await confirm(shop, id, { stage: 'received', refundAmount: 50 })
  expect(paid.body.refundAmount).toBe(50)
  expect((await reject(shop, id)).body).toMatchObject({ status: 'rejected', refundAmount: null })
  const other = await requested(shop, { type: 'exchange' })
  await approve(shop, other.id)
  await confirm(shop, other.id, { stage: 'received', exchangeOrderId: '9999' })
  expect((await reject(shop, other.id)).body.exchangeOrderId).toBeNull()
})

test('a unit that came back and is refunded at the platform counts once; an earlier refund counts separately', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered({ items: [{ variantId: '2001', quantity: 3 }] })
  const { id } = await requested(shop, { order })
  await approve(shop, id)
  await received(shop, id)
  await confirm(shop, id)
  expect(await left(shop, order)).toBe(2)
  const refunded = await shop.resell(order, { refundItems: [{ variantId: '2001', quantity: 1 }] })
  expect(await left(shop, refunded)).toBe(2)
  const all = await requested(shop, { order: refunded, items: [{ quantity: 2 }] })
  expect((await read(shop, all.id)).body.amount).toBe(240)

  const early = await shop.delivered({ items: [{ variantId: '2001', quantity: 3 }] })
  const before = await shop.resell(early, { refundItems: [{ variantId: '2001', quantity: 1 }] })
  const second = await requested(shop, { order: before })
  await approve(shop, second.id)
  await confirm(shop, second.id)
  expect(await left(shop, before)).toBe(1)
})

test('a refund without units is not promised again', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered()
  const less = await shop.resell(order, { refundAmount: 100 })
  const { id } = await requested(shop, { order: less, items: [{ quantity: 2 }] })
  expect((await read(shop, id)).body.amount).toBe(140)
})

const lineRemaining = (
  ...[line, holds]: [Parameters<typeof computeLineRemaining>[0], Parameters<typeof computeLineRemaining>[1]]
) => computeLineRemaining(line, holds, 'BRL')
const lineLeft = (...[line, holds]: Parameters<typeof lineRemaining>) => {
  const left = lineRemaining(line, holds)
  return { ...left, places: left.places(line.quantity) }
}

test('the remaining units of a line of two billion units are computed without listing them', () => {
  const line = { quantity: 2_000_000_000, refundedQuantity: 1, total: '2000000000.00', refundedTotal: '1.00' }
  const hold = { isCompleted: false, units: [3], back: 1, refundedBefore: 0 }
  const { places, ...left } = lineRemaining(line, [hold])
  expect(left).toEqual({ takenQuantity: 1, countedOnce: 0, moneyLeft: '1999999998.00' })
  expect([places(0), places(4)]).toEqual([[], [1, 2, 4, 5]])
  const refunded = lineRemaining({ ...line, refundedQuantity: 2_000_000_000, refundedTotal: line.total }, [
    hold,
  ])
  expect([refunded.places(5), refunded.moneyLeft]).toEqual([[], '0.00'])
  const half = lineRemaining({ ...line, refundedQuantity: 1_000_000_000, refundedTotal: '1000000000.00' }, [
    hold,
  ])
  expect(half.places(2)).toEqual([1_000_000_001, 1_000_000_002])
})

test('the remaining units equal those of a naive list of all units', () => {
  const units = fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 8 })
  const quantities = fc.nat({ max: 30 })
  fc.assert(
    fc.property(quantities, quantities, units, quantities, (quantity, refunded, taken, most) => {
      const hold = { isCompleted: false, units: taken, back: 0, refundedBefore: 0 }
      const line = { quantity, refundedQuantity: refunded, total: '10.00', refundedTotal: '0.00' }
      const free = Array.from({ length: quantity }, (_none, at) => at).filter((at) => !taken.includes(at))
      expect(lineRemaining(line, [hold]).places(most)).toEqual(free.slice(refunded, refunded + most))
    }),
  )
})

test('refunded taxes outside a line do not reduce its other units', () => {
  // 3 of 100.00, to which the shop adds 10 % of tax: a refunded unit gives back 110.00.
  const line = { quantity: 3, refundedQuantity: 1, total: '300.00', refundedTotal: '110.00' }
  expect(lineLeft(line, [])).toMatchObject({ places: [1, 2], moneyLeft: '200.00' })
  const back = { isCompleted: true, units: [0], back: 1, refundedBefore: 0 }
  expect(lineLeft(line, [back])).toMatchObject({ places: [1, 2], moneyLeft: '200.00' })
  expect(lineLeft({ ...line, refundedQuantity: 2, refundedTotal: '220.00' }, [back])).toMatchObject({
    places: [2],
    moneyLeft: '100.00',
  })
  // A cent of rounding is no tax.
  const odd = { quantity: 3, refundedQuantity: 1, total: '209.69', refundedTotal: '69.90' }
  expect(lineLeft(odd, [{ ...back, units: [1] }]).moneyLeft).toBe('139.79')
  // Less than a unit's value, or a refund without a unit, counts as it is.
  expect(lineLeft({ ...line, refundedTotal: '60.00' }, []).moneyLeft).toBe('240.00')
  expect(lineLeft({ ...line, refundedQuantity: 0, refundedTotal: '30.00' }, []).moneyLeft).toBe('270.00')
})

test('the remaining units and money are exact', () => {
  const line = { quantity: 3, refundedQuantity: 0, total: '209.69', refundedTotal: '0.00' }
  const hold = (units: number[], isCompleted: boolean, refundedBefore = 0) => ({
    units,
    isCompleted,
    back: units.length,
    refundedBefore,
  })
  expect(lineLeft(line, [])).toMatchObject({ places: [0, 1, 2], moneyLeft: '209.69' })
  expect(lineLeft(line, [hold([1], false)])).toMatchObject({ places: [0, 2], moneyLeft: '139.80' })
  const one = { ...line, refundedQuantity: 1, refundedTotal: '69.90' }
  expect(lineLeft(one, [hold([0], true)])).toMatchObject({
    countedOnce: 1,
    places: [1, 2],
    moneyLeft: '139.79',
  })
  expect(lineLeft(one, [hold([0], true, 1)])).toMatchObject({
    countedOnce: 0,
    places: [2],
    moneyLeft: '69.89',
  })
  const worth = (amount: bigint, isCompleted: boolean, refundedBefore = 0n) => ({
    amount,
    isCompleted,
    refundedBefore,
  })
  const order = { total: '100.00', refundedTotal: '40.00', currency: 'BRL' }
  expect(computeRemainingMoney(order, [worth(4000n, true)])).toBe('60.00')
  expect(computeRemainingMoney(order, [worth(4000n, true, 4000n)])).toBe('20.00')
  expect(computeRemainingMoney(order, [worth(4000n, false)])).toBe('20.00')
})
