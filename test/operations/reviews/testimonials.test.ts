import { describe, expect, test } from 'vitest'
import sendTestEmail from '#operations/reviews/requests/api/send-test-email'
import createImageUpload from '#operations/reviews/reviews/api/create-image-upload'
import createLogoUpload from '#operations/reviews/settings/api/create-logo-upload'
import getSettings from '#operations/reviews/settings/api/get-settings'
import saveSettings from '#operations/reviews/settings/api/save-settings'
import createPhotoUpload from '#operations/reviews/testimonials/api/create-photo-upload'
import createTestimonial from '#operations/reviews/testimonials/api/create-testimonial'
import deleteTestimonial from '#operations/reviews/testimonials/api/delete-testimonial'
import enableTestimonial from '#operations/reviews/testimonials/api/enable-testimonial'
import listTestimonials from '#operations/reviews/testimonials/api/list-testimonials'
import reorderTestimonials from '#operations/reviews/testimonials/api/reorder-testimonials'
import saveTestimonialSettings from '#operations/reviews/testimonials/api/save-testimonial-settings'
import updateTestimonial from '#operations/reviews/testimonials/api/update-testimonial'
import type { Operation } from '#runtime/operation'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { copyRow } from '#test/support/copies'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'
import { reviewShop } from './shop.ts'

const app = await testApp({ storefrontReadsIp: 10_000 })

const add = async (shop: Shop, authorName: string): Promise<string> =>
  (await shop.call(createTestimonial, { body: { authorName, text: 'Muito bom' } })).body.id
const order = async (shop: Shop): Promise<[string, number][]> =>
  (await shop.call(listTestimonials)).body.data.map((each: { id: string; position: number }) => [
    each.id,
    each.position,
  ])

describe('testimonials', () => {
  test('testimonials are appended, changed, switched, and deleted without a gap', async () => {
    const shop = await store(app)
    const [a, b, c] = [await add(shop, 'A'), await add(shop, 'B'), await add(shop, 'C')]
    expect(await order(shop)).toEqual([
      [a, 1],
      [b, 2],
      [c, 3],
    ])
    const { body } = await shop.call(listTestimonials)
    expect(body.settings).toMatchObject({ isEnabled: false, pages: ['home'], updatedAt: null })
    const [read] = body.data
    expect((await shop.call(updateTestimonial, { body: read })).body).toEqual(read)
    const changed = await shop.call(updateTestimonial, {
      body: { id: a, authorTitle: 'Recife', rating: 5, position: 9 },
    })
    expect(changed.body).toMatchObject({ authorTitle: 'Recife', rating: 5, position: 1, text: 'Muito bom' })
    expect(
      (await shop.call(updateTestimonial, { body: { id: a, authorTitle: '' } })).body.authorTitle,
    ).toBeNull()
    expect((await shop.call(enableTestimonial, { body: { id: b, isEnabled: false } })).body.isEnabled).toBe(
      false,
    )
    expect((await shop.call(enableTestimonial, { body: { id: b, isEnabled: false } })).status).toBe(200)
    expect((await shop.call(listTestimonials, { query: { isEnabled: true } })).body.data).toHaveLength(2)
    expect((await shop.call(deleteTestimonial, { params: { id: a } })).status).toBe(204)
    expect(await order(shop)).toEqual([
      [b, 1],
      [c, 2],
    ])
    expect((await shop.call(updateTestimonial, { body: { id: a, text: 'x' } })).status).toBe(404)
  })

  test('testimonials are reordered completely or not at all', async () => {
    const shop = await store(app)
    const [a, b, c] = [await add(shop, 'A'), await add(shop, 'B'), await add(shop, 'C')]
    const reorder = async (ids: string[]) => (await shop.call(reorderTestimonials, { body: { ids } })).status
    expect(await reorder([c, a, b])).toBe(200)
    expect(await reorder([c, a, a])).toBe(400)
    expect(await reorder([c, a])).toBe(409)
    expect(await reorder([c, a, newId(1)])).toBe(404)
    expect(await order(shop)).toEqual([
      [c, 1],
      [a, 2],
      [b, 3],
    ])
  })

  test('a store has at most a hundred testimonials; concurrent ones get distinct positions', async () => {
    const shop = await store(app)
    const [id] = await Promise.all(Array.from({ length: 8 }, (_none, n) => add(shop, `A${n}`)))
    expect((await order(shop)).map(([, position]) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    await copyRow(app, 'testimonials', id!, { count: 92, json: [], change: (n) => ({ position: 9 + n }) })
    expect((await shop.call(createTestimonial, { body: { authorName: 'Z', text: 'T' } })).status).toBe(409)
  })

  test('the widget shows the enabled testimonials', async () => {
    const shop = await store(app)
    await add(shop, 'Ana')
    const hidden = await add(shop, 'Bia')
    await shop.call(enableTestimonial, { body: { id: hidden, isEnabled: false } })
    expect((await visit(shop, '/widgets')).body.testimonials).toBeUndefined()
    const saved = await shop.call(saveTestimonialSettings, {
      body: { isEnabled: true, title: '', pages: ['all'] },
    })
    expect(saved.body).toMatchObject({ isEnabled: true, title: null, layout: 'carousel', autoplaySeconds: 6 })
    const { testimonials } = (await visit(shop, '/widgets')).body
    expect(testimonials.data).toEqual([
      { authorName: 'Ana', authorTitle: null, text: 'Muito bom', rating: null, photoUrl: null },
    ])
  })

  test('photos must be uploaded here or have an https URL', async () => {
    const shop = await store(app)
    const link = async (operation: Operation, size: number, contentType = 'image/webp') =>
      (await shop.call(operation, { body: { fileName: 'a.webp', contentType, size } })).status
    expect(await link(createPhotoUpload, 5 * 1024 * 1024)).toBe(200)
    expect(await link(createPhotoUpload, 5 * 1024 * 1024 + 1)).toBe(400)
    expect(await link(createPhotoUpload, 10, 'image/gif')).toBe(400)
    expect(await link(createLogoUpload, 2 * 1024 * 1024, 'image/gif')).toBe(200)
    expect(await link(createLogoUpload, 10, 'image/webp')).toBe(400)
    expect(await link(createImageUpload, 10 * 1024 * 1024)).toBe(200)
    const make = async (photoUrl: string) =>
      (await shop.call(createTestimonial, { body: { authorName: 'A', text: 'T', photoUrl } })).status
    expect(await make('https://images.example/a.jpg')).toBe(201)
    expect(await make('http://images.example/a.jpg')).toBe(400)
  })
})

describe('settings of reviews', () => {
  test('settings have defaults, and empty texts become null', async () => {
    const shop = await store(app)
    const first = await shop.call(getSettings)
    expect(first.body).toMatchObject({
      ...{ isEnabled: false, updatedAt: null },
      request: { delayDays: 7, sendTime: '10:00' },
    })
    const saved = await shop.call(saveSettings, {
      body: { email: { footerText: '' }, widget: { title: '' } },
    })
    expect(saved.body.email).toEqual({ ...first.body.email, footerText: null })
    expect(saved.body.widget.title).toBeNull()
  })

  test.each<[string, object]>([
    ['email.subject', { email: { subject: 'Hi {{city}}' } }],
    ['message.text: must contain {{reviewUrl}}', { message: { text: 'Hi {{firstName}}' } }],
    ['email.logoUrl', { email: { logoUrl: 'http://images.example/a.png' } }],
  ])('refuse %s', async (message, body) => {
    expect(await (await store(app)).call(saveSettings, { body })).toMatchObject(refused(400, message))
  })

  test('a test email goes to the key`s creator or to a given address', async () => {
    const shop = await reviewShop(app)
    await shop.settings({ email: { body: 'Olá {{firstName}} <b>' } })
    const own = await shop.call(sendTestEmail, { body: {} })
    expect(own.body).toEqual({ sentTo: shop.email, subject: '[Test] How was your Caneca?' })
    const [mail] = await shop.mails(shop.email)
    expect(mail!.html).toContain('Olá Ana &#60;b&#62;')
    expect((await shop.call(sendTestEmail, { body: { email: 'a+bounce@example.com' } })).status).toBe(400)
    expect((await shop.call(sendTestEmail, { body: { email: 'a+down@example.com' } })).status).toBe(503)
    expect(await shop.dispatches()).toEqual([])
  })
})
