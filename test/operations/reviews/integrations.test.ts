/** Integrations of reviews with other sections. */
import { expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import getAutomation from '#operations/automations/definitions/api/get-automation'
import { unsubscribes } from '#operations/capture/index'
import { findApprovedSince, findReviewedOrders } from '#operations/reviews/reviews/integrations'
import getSettings from '#operations/reviews/settings/api/get-settings'
import saveSettings from '#operations/reviews/settings/api/save-settings'
import listTestimonials from '#operations/reviews/testimonials/api/list-testimonials'
import activate from '#operations/store/onboarding/api/activate-features'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, confirm, received, requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { reviewShop } from './shop.ts'

const app = await testApp()
test('emails have an unsubscribe link; unsubscribed customers are skipped when planning and before sending', async () => {
  await app.setClock('2026-04-01T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings({ request: { delayDays: 0 } })
  const ask = async (email: string) => {
    const order = await shop.place({ customer: { name: 'Ana', email } })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    await app.drainJobs()
  }
  const ctx = await shop.context()
  const linkOf = (email: string) => unsubscribes.buildLink(ctx, 'reviews', email)
  const leave = async (email: string) => {
    const answer = await app.fetch(new Request(linkOf(email), { method: 'POST' }), { ip: '127.0.0.1' })
    expect(answer.status).toBe(200)
  }
  await leave('gone@example.com')
  for (const email of ['Gone@example.com', 'goes@example.com', 'stays@example.com']) await ask(email)
  await leave('goes@example.com')
  await app.setClock('2026-04-01T13:01:00.000Z')
  await app.drainJobs()
  const rows = await shop.dispatches()
  expect(rows.map((row) => [row.customer_email, row.status, row.reason])).toEqual([
    ['Gone@example.com', 'skipped', 'opted-out'],
    ['goes@example.com', 'skipped', 'opted-out'],
    ['stays@example.com', 'sent', null],
  ])
  const [mail] = await shop.mails('stays@example.com')
  const link = linkOf('stays@example.com')
  expect(mail!.headers).toMatchObject({ 'List-Unsubscribe': `<${link}>` })
  expect(mail!.text).toContain(`Unsubscribe: ${link}`)
})

test('automations know which orders have a request or a review', async () => {
  await app.setClock('2026-04-02T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings({})
  const [asked, reviewed, fresh] = [
    await shop.sell({ customer: { name: 'A', email: 'a@example.com' } }),
    await shop.sell({ customer: { name: 'B', email: 'b@example.com' } }),
    await shop.sell({ customer: { name: 'C', email: 'c@example.com' } }),
  ]
  await shop.resell(asked, { fulfillmentStatus: 'delivered' })
  await shop.review({ productId: '1002', email: 'B@example.com', verified: true })
  // A review by a stranger does not prevent a request to the customer.
  await shop.review({ productId: '1002', email: 'c@example.com' })
  const known = await findReviewedOrders(await shop.context(), [asked.id, reviewed.id, fresh.id])
  expect([...known].sort()).toEqual(
    [
      [asked.id, 'duplicate-request'],
      [reviewed.id, 'not-eligible'],
    ].sort(),
  )
})

test('automations that ask for reviews warn if review requests are sent by message too', async () => {
  const shop = await reviewShop(app)
  const body = { name: 'Ask', type: 'review-request', isActive: false }
  const { id } = (await shop.call(createAutomation, { body })).body
  const warnings = async () => (await shop.call(getAutomation, { params: { id } })).body.warnings
  await shop.settings({ request: { channel: 'email' } })
  expect(await warnings()).not.toContain('review-requests-on')
  await shop.settings({ request: { channel: 'messaging-or-email' } })
  expect(await warnings()).toContain('review-requests-on')
  await shop.settings({ request: { isEnabled: false } })
  expect(await warnings()).not.toContain('review-requests-on')
})

test('alerts get only approved reviews, newest first', async () => {
  await app.setClock('2026-04-03T12:00:00.000Z')
  const shop = await reviewShop(app)
  const at = (day: number) => new Date(Date.UTC(2026, 2, day))
  await shop.review({ status: 'approved', reviewedAt: at(1) })
  await shop.review({ status: 'approved', reviewedAt: at(20), name: 'Newest' })
  await shop.review({ status: 'approved', reviewedAt: at(19), productId: '1002' })
  await shop.review({ status: 'pending', reviewedAt: at(21) })
  const found = await findApprovedSince(await shop.context(), { since: at(10), excluded: ['1002'], limit: 5 })
  expect(found).toMatchObject([{ customerName: 'Newest', productId: '1001' }])
})

test('the onboarding turns reviews and testimonials on', async () => {
  const shop = await reviewShop(app)
  const { status } = await shop.call(activate, { body: { features: ['reviews', 'testimonials'] } })
  expect(status).toBe(200)
  expect((await shop.call(getSettings)).body.isEnabled).toBe(true)
  expect((await shop.call(listTestimonials)).body.settings.isEnabled).toBe(true)
})

test('an item of a completed return gets no review request, and the other items of its order do', async () => {
  await app.setClock('2026-04-03T12:00:00.000Z')
  const shop = await exchangeShop(app)
  const settings = { isEnabled: true, request: { delayDays: 5 }, reminder: { isEnabled: true, delayDays: 1 } }
  expect((await shop.call(saveSettings, { body: settings })).status).toBe(200)
  const [kept, returned] = ['2003', '2001']
  const items = [kept, returned].map((variantId) => ({ variantId, quantity: 1 }))
  const order = await shop.delivered({ items })
  const line = order.items.find(({ variantId }) => variantId === returned)!
  const { id } = await requested(shop, { order, items: [{ orderItemId: line.id }] })
  const reviewed = async () => [...(await findReviewedOrders(await shop.context(), [order.id])).values()]
  expect((await approve(shop, id)).status).toBe(200)
  expect((await received(shop, id)).status).toBe(200)
  expect((await confirm(shop, id)).status).toBe(200)
  await app.drainJobs()
  for (const day of ['08', '09', '10']) {
    await app.setClock(`2026-04-${day}T15:00:00.000Z`)
    await app.drainJobs()
  }
  const rows = await app.database.query<{ order_item_id: string; status: string; reason: string | null }>(
    'select order_item_id, status, reason from review_dispatches where order_id = $1 order by status',
    [order.id],
  )
  expect(rows.map((row) => [row.order_item_id === line.id, row.status, row.reason])).toEqual([
    [false, 'sent', null],
    [true, 'skipped', 'refunded'],
  ])
  expect(await reviewed()).toEqual(['not-eligible'])
})
