/** What reviews and other sections tell each other. */
import { expect, test } from 'vitest'
import { registerUnsubscribes } from '#operations/reviews/lib/door'
import { approvedSince, reviewedOrders } from '#operations/reviews/lib/for-others'
import getSettings from '#operations/reviews/settings/get-settings'
import listTestimonials from '#operations/reviews/testimonials/list-testimonials'
import activate from '#operations/store/onboarding/activate-features'
import { testApp } from '#test/support/app'
import { reviewShop } from './shop.ts'

const app = await testApp()
const left = new Set<string>()
registerUnsubscribes({
  among: async (_ctx, emails) => new Set(emails.filter((email) => left.has(email))),
  link: (_ctx, topic, email) => `https://example.com/unsubscribe?${topic}=${email}`,
  headers: (link) => ({ 'List-Unsubscribe': `<${link}>` }),
})

test('emails have a way out; who took it is skipped, before planning and before the email leaves', async () => {
  await app.setClock('2026-04-01T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings({ request: { delayDays: 0 } })
  const ask = async (email: string) => {
    const order = await shop.place({ customer: { name: 'Ana', email } })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    await app.drainJobs()
  }
  left.add('gone@example.com')
  for (const email of ['Gone@example.com', 'goes@example.com', 'stays@example.com']) await ask(email)
  left.add('goes@example.com')
  await app.setClock('2026-04-01T13:01:00.000Z')
  await app.drainJobs()
  const rows = await shop.dispatches()
  expect(rows.map((row) => [row.customer_email, row.status, row.reason])).toEqual([
    ['Gone@example.com', 'skipped', 'opted-out'],
    ['goes@example.com', 'skipped', 'opted-out'],
    ['stays@example.com', 'sent', null],
  ])
  const [mail] = await shop.mails('stays@example.com')
  expect(mail!.headers).toEqual({
    'List-Unsubscribe': '<https://example.com/unsubscribe?reviews=stays@example.com>',
  })
  expect(mail!.text).toContain('Unsubscribe: https://example.com/unsubscribe?reviews=stays@example.com')
})

test('automations learn which orders were asked about or reviewed', async () => {
  await app.setClock('2026-04-02T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings({})
  const [asked, reviewed, fresh] = [
    await shop.sell({ customer: { name: 'A', email: 'a@example.com' } }),
    await shop.sell({ customer: { name: 'B', email: 'b@example.com' } }),
    await shop.sell({ customer: { name: 'C', email: 'c@example.com' } }),
  ]
  await shop.resell(asked, { fulfillmentStatus: 'delivered' })
  await shop.review({ productId: '1002', email: 'B@example.com' })
  const known = await reviewedOrders(await shop.context(), [asked.id, reviewed.id, fresh.id])
  expect([...known].sort()).toEqual(
    [
      [asked.id, 'duplicate-request'],
      [reviewed.id, 'not-eligible'],
    ].sort(),
  )
})

test('alerts get approved reviews alone, newest first', async () => {
  await app.setClock('2026-04-03T12:00:00.000Z')
  const shop = await reviewShop(app)
  const at = (day: number) => new Date(Date.UTC(2026, 2, day))
  await shop.review({ status: 'approved', reviewedAt: at(1) })
  await shop.review({ status: 'approved', reviewedAt: at(20), name: 'Newest' })
  await shop.review({ status: 'approved', reviewedAt: at(19), productId: '1002' })
  await shop.review({ status: 'pending', reviewedAt: at(21) })
  const found = await approvedSince(await shop.context(), { since: at(10), excluded: ['1002'], limit: 5 })
  expect(found).toMatchObject([{ customerName: 'Newest', productId: '1001' }])
})

test('the onboarding turns both on', async () => {
  const shop = await reviewShop(app)
  const { status } = await shop.call(activate, { body: { features: ['reviews', 'testimonials'] } })
  expect(status).toBe(200)
  expect((await shop.call(getSettings)).body.isEnabled).toBe(true)
  expect((await shop.call(listTestimonials)).body.settings.isEnabled).toBe(true)
})
