/** Decisions of the merchant: the complete life of a request, and the refusals of each step. */
import { describe, expect, test } from 'vitest'
import getRequest from '#operations/exchanges/requests/api/get-request'
import updateAddress from '#operations/exchanges/requests/api/update-address'
import { toIdentityTag } from '#runtime/gateway/etag'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import {
  ana,
  type ExchangeShop,
  exchangeShop,
  returnAddress,
  upload,
} from '#test/operations/exchanges/shopper'
import {
  approve,
  confirm,
  listEvents,
  metrics,
  received,
  remove,
  requested,
  requestedBy,
} from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { readRows } from '#test/support/rows'

const app = await testApp()
const read = (shop: ExchangeShop, id: string) => shop.call(getRequest, { params: { id } })
const address = (shop: ExchangeShop, id: string, body: unknown) =>
  shop.call(updateAddress, { params: { id }, body })
const subjects = async (to: string): Promise<string[]> =>
  (await listSandboxMail(app.database.root as never, { to })).map(({ subject }) => subject).sort()

describe('the round trip', () => {
  test('a request completes with an email at each step', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await exchangeShop(app)
    const customer = { ...ana, email: 'round.trip@example.com' }
    const { id, number, statusUrl, order } = await requestedBy(shop, customer, { items: [{ quantity: 2 }] })
    const [item] = (await read(shop, id)).body.items

    await app.setClock('2026-11-20T15:00:00.000Z')
    const partial = {
      items: [{ id: item.id, approvedQuantity: 1 }],
      returnCode: 'RMA-1',
      note: 'One is fine',
    }
    const twice = await Promise.all([1, 2].map(() => approve(shop, id, partial)))
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 409])
    const approved = twice.find(({ status }) => status === 200)!.body
    expect(approved).toMatchObject({
      status: 'approved',
      amount: 120,
      returnCode: 'RMA-1',
      approvedAt: '2026-11-20T15:00:00.000Z',
      expiresAt: '2026-12-18T15:00:00.000Z',
      items: [{ quantity: 2, approvedQuantity: 1, receivedQuantity: null }],
    })
    // The other unit is free again.
    const again = await shop.lookup(order, customer.email)
    expect(again.body.items[0].availableQuantity).toBe(1)

    const moved = await address(shop, id, { returnAddress: { street: 'Rua Nova', number: null } })
    expect(moved.body.returnAddress).toMatchObject({ ...returnAddress, street: 'Rua Nova', number: null })
    await app.drainJobs()
    const shipped = await shop.follow(statusUrl, '/shipped', { trackingCode: 'BR1' })
    expect(shipped.body.status).toBe('in-transit')
    expect((await address(shop, id, { returnAddress: { street: 'Rua Velha' } })).status).toBe(409)

    const arrived = await received(shop, id)
    expect([arrived.status, arrived.body]).toMatchObject([
      200,
      { status: 'received', refundAmount: null, items: [{ receivedQuantity: 1 }] },
    ])
    // A notice is sent within a day or not at all.
    await app.drainJobs()
    await app.setClock('2026-11-22T12:00:00.000Z')
    const done = await confirm(shop, id, { refundMethod: 'store-credit' })
    expect([done.status, done.body]).toMatchObject([
      200,
      { status: 'completed', refundMethod: 'store-credit', refundAmount: 120, expiresAt: null },
    ])
    expect((await confirm(shop, id)).status).toBe(409)
    await app.drainJobs()

    expect(await subjects(customer.email)).toEqual(
      [
        'The return address changed',
        'We received your request',
        'Your items arrived',
        'Your request is complete',
        'Your request was approved',
      ].map((subject) => `${subject} (${number})`),
    )
    const { history } = (await read(shop, id)).body
    const moves = history.filter(({ event }: { event: string }) => event !== 'notified')
    expect(
      moves.map(
        ({ event, fromStatus, toStatus, actor }: Record<string, string> & { actor: { type: string } }) =>
          [event, fromStatus, toStatus, actor.type].join(' '),
      ),
    ).toEqual([
      'requested  requested customer',
      'approved requested approved member',
      'address-changed   member',
      'shipped approved in-transit customer',
      'received in-transit received member',
      'completed received completed member',
    ])
    expect(moves[1]).toMatchObject({ actor: { name: 'Olivia Owner' }, note: 'One is fine' })
    expect(history.filter(({ event }: { event: string }) => event === 'notified')).toHaveLength(5)
    const figures = (await metrics(shop, { startDate: '2026-11-20', endDate: '2026-11-22' })).body
    expect(
      figures.series.map(({ requests, completed }: Record<string, number>) => [requests, completed]),
    ).toEqual([
      [1, 1],
      [0, 0],
      [0, 0],
    ])
  })

  test('an exchange that completes at once stores its order and no refund', async () => {
    const shop = await exchangeShop(app)
    const { id } = await requested(shop, { type: 'exchange', items: [{ quantity: 2 }] })
    const [item] = (await read(shop, id)).body.items
    expect((await read(shop, id)).body).toMatchObject({ amount: 240, priceDifference: -120 })
    expect((await approve(shop, id, { refundMethod: 'store-credit' })).status).toBe(400)
    const approved = await approve(shop, id, { items: [{ id: item.id, approvedQuantity: 1 }] })
    expect(approved.body).toMatchObject({ amount: 120, priceDifference: -60 })
    for (const field of [{ refundMethod: 'store-credit' }, { refundAmount: 1 }]) {
      const message = `${Object.keys(field)[0]}: is of returns only, and this is an exchange`
      expect(await confirm(shop, id, field)).toMatchObject(refused(400, message))
    }
    const done = await confirm(shop, id, { exchangeOrderId: '4711' })
    expect(done.body).toMatchObject({
      status: 'completed',
      exchangeOrderId: '4711',
      refundMethod: null,
      refundAmount: null,
      items: [{ receivedQuantity: 1, exchangeFor: { variantId: '2002', unitPrice: 60 } }],
    })
  })
})

describe('approving', () => {
  test('refuses foreign items, too many units, and an empty approval', async () => {
    const shop = await exchangeShop(app)
    const { id } = await requested(shop)
    const other = await requested(shop)
    const [item] = (await read(shop, id)).body.items
    const [foreign] = (await read(shop, other.id)).body.items
    const faults: [unknown, string][] = [
      [{ items: [{ id: foreign.id, approvedQuantity: 1 }] }, 'items.0.id: is no item of this request'],
      [{ items: [{ id: item.id, approvedQuantity: 2 }] }, 'items.0.approvedQuantity: must be at most 1'],
      [
        { items: [{ id: item.id, approvedQuantity: 0 }] },
        'items: nothing is left approved: reject the request instead',
      ],
      [{ returnMethod: 'pickup' }, 'returnMethod: pickup is not enabled in the settings'],
      [{ labelUrl: 'http://label.example.com' }, 'labelUrl: must be an https address'],
    ]
    for (const [body, message] of faults)
      expect(await approve(shop, id, body)).toMatchObject(refused(400, message))
    const twice = { id: item.id, approvedQuantity: 1 }
    expect((await approve(shop, id, { items: [twice, twice] })).status).toBe(400)
    expect((await read(shop, id)).body.status).toBe('requested')
  })

  test('needs an address for a shipping method, and accepts one', async () => {
    const methods = ['customer-ships', 'in-store'].map((method) => ({ method, label: method }))
    const shop = await exchangeShop(app, { returnMethods: methods })
    const { id } = await requested(shop, { returnMethod: 'in-store' })
    await app.database.root
      .updateTable('exchange_requests')
      .set({ return_address: null })
      .where('id', '=', id)
      .execute()
    const without = await approve(shop, id, { returnMethod: 'customer-ships' })
    expect(without.status).toBe(409)
    const partial = await approve(shop, id, { returnMethod: 'customer-ships', returnAddress: { city: 'X' } })
    expect(partial).toMatchObject(refused(400, 'returnAddress.recipient: must be given'))
    const given = await approve(shop, id, {
      returnMethod: 'customer-ships',
      returnAddress: { ...returnAddress, phone: '(11) 98888-7777' },
      labelUrl: 'https://labels.example.com/1',
      carrier: 'Correios',
    })
    expect([given.status, given.body]).toMatchObject([
      200,
      {
        returnMethod: 'customer-ships',
        returnAddress: { ...returnAddress, phone: '+5511988887777', complement: null },
        labelUrl: 'https://labels.example.com/1',
        carrier: 'Correios',
      },
    ])
  })

  test('without a deadline in the settings never expires', async () => {
    const shop = await exchangeShop(app, { shippingDeadlineDays: null })
    const { id } = await requested(shop)
    expect((await approve(shop, id)).body.expiresAt).toBeNull()
  })
})

describe('confirming', () => {
  test('counts the received units; the refund is their value or the given one, up to the amount', async () => {
    const shop = await exchangeShop(app)
    const { id } = await requested(shop, { items: [{ quantity: 2 }] })
    const [item] = (await read(shop, id)).body.items
    await approve(shop, id)
    const units = (receivedQuantity: number) => ({ items: [{ id: item.id, receivedQuantity }] })
    const faults: [unknown, string][] = [
      [units(3), 'items.0.receivedQuantity: must be at most 2'],
      [units(0), 'items: nothing was received: reject the request instead'],
      [{ refundAmount: 240.01 }, 'refundAmount: must be at most 240.00, the amount'],
      [{ exchangeOrderId: '1' }, 'exchangeOrderId: is of exchanges only, and this is a return'],
    ]
    for (const [body, message] of faults)
      expect(await confirm(shop, id, body)).toMatchObject(refused(400, message))
    const arrived = await confirm(shop, id, { stage: 'received', ...units(1) })
    expect(arrived.body).toMatchObject({ status: 'received', items: [{ receivedQuantity: 1 }] })
    const done = await confirm(shop, id)
    expect(done.body).toMatchObject({
      status: 'completed',
      amount: 240,
      refundAmount: 120,
      items: [{ approvedQuantity: 2, receivedQuantity: 1 }],
    })
    const other = await requested(shop)
    await approve(shop, other.id)
    expect((await confirm(shop, other.id, { refundAmount: 0 })).body.refundAmount).toBe(0)
  })
})

describe('the address', () => {
  test('changes and sends nothing when it is equal; the whole request may be sent back', async () => {
    const shop = await exchangeShop(app)
    const { id } = await requested(shop)
    await approve(shop, id)
    const before = (await read(shop, id)).body
    const answer = await address(shop, id, before)
    expect([answer.status, answer.body]).toEqual([200, before])
    expect(await listEvents(shop, id)).not.toContain('address-changed')
    const incomplete = await address(shop, id, { returnAddress: { city: '' } })
    expect(incomplete.status).toBe(400)
    expect((await address(shop, id, {})).status).toBe(400)
    expect((await address(shop, id, { returnAddress: null })).status).toBe(400)
  })

  test('changes without a notice before the decision', async () => {
    const shop = await exchangeShop(app)
    const customer = { ...ana, email: 'quiet.address@example.com' }
    const { id } = await requestedBy(shop, customer)
    await address(shop, id, { returnAddress: { city: 'Santos' } })
    await app.drainJobs()
    expect(await subjects(customer.email)).toHaveLength(1)
    expect(await listEvents(shop, id)).toEqual(['requested', 'address-changed', 'notified'])
  })
})

test('a deleted request is gone everywhere with its photos; units of a completed one stay used', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered()
  const sessionToken = await shop.session(order)
  const photoUrls = [await upload(shop, sessionToken)]
  const { id, number, statusUrl } = await requested(shop, { order, sessionToken, photoUrls })
  const shown = (await read(shop, id)).body.photos
  expect(shown).toMatchObject([{ contentType: 'image/png', size: 10 }])
  const photo = await app.fetch(new Request(shown[0].url), { ip: '127.0.0.1' })
  expect([photo.status, (await photo.arrayBuffer()).byteLength]).toEqual([200, 10])
  await approve(shop, id)
  await confirm(shop, id)
  expect((await remove(shop, id)).status).toBe(204)
  expect((await read(shop, id)).status).toBe(404)
  expect((await remove(shop, id)).status).toBe(404)
  expect((await shop.follow(statusUrl)).status).toBe(404)
  expect((await metrics(shop)).body.total).toBe(0)
  expect((await shop.request('GET', '/product-exchanges/requests')).body.total).toBe(0)
  expect((await shop.lookup(order)).body.items[0].availableQuantity).toBe(1)
  const uses = await readRows(shop, 'file_uses', ['owner'])
  expect(uses).toEqual([])
  // Its number is not reused, and an undecided request frees its units.
  const next = await requested(shop, { order })
  expect(next.number).not.toBe(number)
  expect((await shop.lookup(order)).body.items[0].availableQuantity).toBe(0)
  expect((await remove(shop, next.id)).status).toBe(204)
  expect((await shop.lookup(order)).body.items[0].availableQuantity).toBe(1)
})

test('an approved request that is not sent in time expires, frees its units and notifies the shopper', async () => {
  await app.setClock('2026-10-01T12:00:00.000Z')
  const shop = await exchangeShop(app)
  const customer = { ...ana, email: 'too.late@example.com' }
  const { id, number, order } = await requestedBy(shop, customer)
  await approve(shop, id)
  const expire = async (at: string) => {
    await app.setClock(at)
    await app.drainJobs()
    return (await read(shop, id)).body
  }
  expect((await expire('2026-10-29T11:59:59.000Z')).status).toBe('approved')
  expect(await expire('2026-10-29T12:15:00.000Z')).toMatchObject({
    status: 'expired',
    expiresAt: null,
    expiredAt: expect.any(String),
  })
  await app.drainJobs()
  const [mail] = await shop.mails(customer.email)
  expect(mail!.subject).toBe(`Your request has expired (${number})`)
  expect(mail!.text).toMatch(/not sent by .*29.*2026/)
  expect((await shop.lookup(order, customer.email)).body.items[0].availableQuantity).toBe(2)
})

test('the ETag stays the same when photos are signed again', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered()
  const sessionToken = await shop.session(order)
  const photoUrls = [await upload(shop, sessionToken)]
  const { id } = await requested(shop, { order, sessionToken, photoUrls })
  await app.drainJobs()
  const first = await read(shop, id)
  await app.advance(60_000)
  const second = await read(shop, id)
  expect(second.body.photos[0].url).not.toBe(first.body.photos[0].url)
  const etag = first.headers.get('etag')!
  expect(toIdentityTag(second.headers.get('etag')!)).toBe(toIdentityTag(etag))
})
