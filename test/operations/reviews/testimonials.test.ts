/** Testimonials and settings. */
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
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
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
  test('are added last, changed, switched, deleted without a gap', async () => {
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
    expect((await shop.call(deleteTestimonial, { params: { id: a } })).status).toBe(404)
    expect((await shop.call(updateTestimonial, { body: { id: a, text: 'x' } })).status).toBe(404)
  })

  test('reorder: whole, or nothing moves', async () => {
    const [shop, other] = [await store(app), await store(app)]
    const [a, b, c] = [await add(shop, 'A'), await add(shop, 'B'), await add(shop, 'C')]
    const foreign = await add(other, 'X')
    const reorder = async (ids: string[]) => (await shop.call(reorderTestimonials, { body: { ids } })).status
    expect(await reorder([c, a, b])).toBe(200)
    expect(await reorder([c, a, a])).toBe(400)
    expect(await reorder([c, a])).toBe(409)
    expect(await reorder([c, a, b, foreign])).toBe(404)
    expect(await reorder([c, a, newId(1)])).toBe(404)
    expect(await order(shop)).toEqual([
      [c, 1],
      [a, 2],
      [b, 3],
    ])
    const orders = [
      [a, b, c],
      [b, c, a],
    ]
    const both = await Promise.all(orders.map(reorder))
    expect(both).toEqual([200, 200])
    const after = await order(shop)
    expect(after.map(([, position]) => position)).toEqual([1, 2, 3])
    expect(orders).toContainEqual(after.map(([id]) => id))
  })

  test('at most a hundred; added at once, each has its place', async () => {
    const shop = await store(app)
    await Promise.all(Array.from({ length: 8 }, (_none, n) => add(shop, `A${n}`)))
    expect((await order(shop)).map(([, position]) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    await app.database.root
      .insertInto('testimonials')
      .values(
        Array.from({ length: 92 }, (_none, n) => ({
          store_id: shop.id,
          id: newId(app.clock.ms()),
          position: 9 + n,
          author_name: 'N',
          text: 'T',
          created_at: app.clock.now(),
          updated_at: app.clock.now(),
        })) as never,
      )
      .execute()
    expect((await shop.call(createTestimonial, { body: { authorName: 'Z', text: 'T' } })).status).toBe(409)
  })

  test('the widget shows those that are on', async () => {
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
    const again = await shop.call(saveTestimonialSettings, { body: saved.body })
    expect(again.body).toEqual(saved.body)
    expect((await shop.call(saveTestimonialSettings, { body: { autoplaySeconds: 31 } })).status).toBe(400)
  })

  test('photos: uploaded here, or an https address', async () => {
    const shop = await store(app)
    const body = (size: number, contentType = 'image/webp') => ({
      body: { fileName: 'a.webp', contentType, size },
    })
    expect((await shop.call(createPhotoUpload, body(5 * 1024 * 1024))).status).toBe(200)
    expect((await shop.call(createPhotoUpload, body(5 * 1024 * 1024 + 1))).status).toBe(400)
    expect((await shop.call(createPhotoUpload, body(10, 'image/gif'))).status).toBe(400)
    expect((await shop.call(createLogoUpload, body(2 * 1024 * 1024, 'image/gif'))).status).toBe(200)
    expect((await shop.call(createLogoUpload, body(10, 'image/webp'))).status).toBe(400)
    expect((await shop.call(createImageUpload, body(10 * 1024 * 1024))).status).toBe(200)
    const make = async (photoUrl: string) =>
      (await shop.call(createTestimonial, { body: { authorName: 'A', text: 'T', photoUrl } })).status
    expect(await make('https://images.example/a.jpg')).toBe(201)
    expect(await make('http://images.example/a.jpg')).toBe(400)
    const upload = (await shop.call(createPhotoUpload, body(4))).body
    expect(await make(upload.fileUrl)).toBe(400)
    await app.fetch(
      new Request(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: Buffer.from('webp') }),
      { ip: '10.0.0.1' },
    )
    expect(await make(upload.fileUrl)).toBe(201)
  })
})

describe('settings of reviews', () => {
  test('defaults, merged at every depth, the same again changes nothing', async () => {
    const shop = await store(app)
    const first = await shop.call(getSettings)
    expect(first.body).toMatchObject({
      isEnabled: false,
      updatedAt: null,
      request: { delayDays: 7, sendTime: '10:00' },
    })
    expect((await shop.call(saveSettings, { body: first.body })).body).toEqual(first.body)
    const saved = await shop.call(saveSettings, {
      body: { email: { footerText: 'Até logo' }, widget: { title: '' } },
    })
    expect(saved.body.email).toEqual({ ...first.body.email, footerText: 'Até logo' })
    expect(saved.body.widget.title).toBeNull()
    expect(
      (await shop.call(saveSettings, { body: { email: { footerText: '' } } })).body.email.footerText,
    ).toBeNull()
    const unchanged = await shop.call(saveSettings, { body: (await shop.call(getSettings)).body })
    expect(unchanged.body.updatedAt).not.toBeNull()
    expect(unchanged.body).toEqual((await shop.call(getSettings)).body)
  })

  test('refuses what does not hold, naming it', async () => {
    const shop = await store(app)
    const message = async (body: Record<string, unknown>) => {
      const answer = await shop.call(saveSettings, { body })
      expect(answer.status).toBe(400)
      return answer.body.error.message
    }
    expect(await message({ email: { subject: 'Hi {{city}}' } })).toContain('email.subject')
    expect(await message({ message: { text: 'Hi {{firstName}}' } })).toContain(
      'message.text: must contain {{reviewUrl}}',
    )
    expect(await message({ request: { sendTime: '25:00' } })).toContain('request.sendTime')
    expect(await message({ request: { delayDays: 61 } })).toContain('request.delayDays')
    expect(await message({ message: { officialapiTemplateId: 0 } })).toContain(
      'message.officialapiTemplateId',
    )
    expect(await message({ email: { logoUrl: 'http://images.example/a.png' } })).toContain('email.logoUrl')
    expect(await message({ widget: { starColor: 'red' } })).toContain('widget.starColor')
    expect(await message({ request: { foo: 1 } })).toContain('foo')
  })

  test('a test email, to the key`s creator or an address', async () => {
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
