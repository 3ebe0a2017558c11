/** Nobody is asked to buy what they have bought at Shopify, however little of the purchase can be linked to the cart. */
import { expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import { connectEcommerce } from '#operations/store/connections/connections'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { connectNumber } from '#scripts/seed/connect-number'
import { shopify } from '#test/ports/shopify'
import { fillCart, placeOrder } from '#test/ports/shopify-stand-in/orders'
import { testApp } from '#test/support/app'
import { never } from '#test/support/automations'
import { store } from '#test/support/store'

const minute = 60_000

test('a recovery message is sent only for a checkout that was not completed', async () => {
  const app = await testApp({ publicUrl: 'https://api.example.com' })
  await app.setClock('2026-11-20T15:00:00.000Z')
  const platform = await shopify({ clock: app.clock })
  ;(app.services.adapters.ecommerce as Record<string, EcommercePort>).shopify = platform.port
  const shop = await store(app)
  const ctx = await shop.context()
  await connectNumber(ctx, { type: 'qr', phone: '+5511400010001' })
  await connectEcommerce(ctx, 'shopify', platform.store.credentials)
  await app.drainJobs()
  const pass = async (minutes: number) => {
    await app.advance(minutes * minute)
    await app.drainJobs({ allowFailures: true })
  }
  const deliver = async (topic: string, id: number | string) => {
    const url = `https://api.example.com/hooks/ecommerce/shopify/${shop.id}`
    const [delivery] = platform.standIn.deliveries(topic, { id }, url)
    const answer = await app.fetch(
      new Request(`http://localhost/hooks/ecommerce/shopify/${shop.id}`, {
        method: 'POST',
        headers: delivery!.headers,
        body: Buffer.from(delivery!.body),
      }),
    )
    expect(answer.status).toBe(200)
    await app.drainJobs()
  }
  const body = { type: 'abandoned-cart', isActive: true, quietHours: never, delayMinutes: 60 }
  expect((await shop.call(createAutomation, { body })).status).toBe(201)

  const people = ['leaves', 'buys', 'buysAsGuest', 'buysUnseen', 'buysByHook'] as const
  const line = { variantId: '2001', quantity: 1 }
  const carts = new Map(
    people.map((name, i) => {
      const id = String(7001 + i)
      platform.shop.addCustomer({ id, name, email: `${name}@example.com`, phone: `+551198888000${i}` })
      return [name, fillCart(platform.shop, { customerId: id, ...line })]
    }),
  )
  platform.shop.addCustomer({ id: '7999', name: 'Somebody else' })
  await pass(10)
  await deliver('checkouts/create', carts.get('leaves')!.id)
  const runs = () =>
    ctx.db
      .selectFrom('automation_executions')
      .innerJoin('automation_runs', 'automation_runs.id', 'automation_executions.run_id')
      .select(['contact_name', 'automation_executions.status', 'skip_reason'])
      .orderBy('contact_name')
      .execute()
  expect((await runs()).map(({ status }) => status)).toEqual(people.map(() => 'pending'))

  // The order is of the same customer.
  placeOrder(platform.shop, { customerId: '7002', ...line, checkout: carts.get('buys')! })
  // The order names somebody else, but the same cart.
  placeOrder(platform.shop, { customerId: '7999', ...line, checkout: carts.get('buysAsGuest')! })
  // The order names somebody else, and no cart: only the checkout says that it was completed.
  const unseen = carts.get('buysUnseen')!
  Object.assign(placeOrder(platform.shop, { customerId: '7999', ...line, checkout: unseen }), {
    cartToken: null,
  })
  await pass(40)
  // A minute before the message: no sync reads the carts again before it is due.
  await app.advance(minute)
  const checkout = carts.get('buysByHook')!
  const order = placeOrder(platform.shop, { customerId: '7999', ...line, checkout })
  await deliver('orders/create', order.id)
  const linked = await ctx.db
    .selectFrom('orders')
    .select('cart_id')
    .where('id', '=', String(order.id))
    .execute()
  expect(linked).toEqual([{ cart_id: String(checkout.id) }])
  await pass(30)
  expect(
    (await runs()).map(({ contact_name, status, skip_reason }) => [contact_name, skip_reason ?? status]),
  ).toEqual([
    ['buys', 'purchased'],
    ['buysAsGuest', 'purchased'],
    ['buysByHook', 'purchased'],
    ['buysUnseen', 'not-eligible'],
    ['leaves', expect.stringMatching(/^(sent|delivered)$/)],
  ])
  await platform.standIn.close()
})
