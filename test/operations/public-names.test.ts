/** No email or phone is public, although platforms and forms put them into names. */
import { expect, test } from 'vitest'
import createAlert from '#operations/bars/alerts/api/create-alert'
import createTestimonial from '#operations/reviews/testimonials/api/create-testimonial'
import saveTestimonials from '#operations/reviews/testimonials/api/save-testimonial-settings'
import { loadRegistry } from '#runtime/registry/registry'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'
import { reviewShop } from './reviews/shop.ts'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const names = [
  'joe@x.example',
  'Joe joe.two@x.example',
  '+5511987654321',
  '11 98765-4322',
  '１１９８７６５４３２３',
]
const isContact = /@x\.example|@X\.|9?8765[-\s.]?43|９８７６５/

const alertTypes = ['recent-purchases', 'recent-reviews', 'purchase-count']

test.each(['full', 'first-initial', 'initials'])(
  'names that are contacts are hidden, as %s',
  async (nameFormat) => {
    const shop = await reviewShop(app, { locale: 'pt-BR' })
    await shop.settings({ widget: { nameFormat } })
    for (const alertType of alertTypes) {
      const made = await shop.call(createAlert, {
        body: {
          alertType,
          isEnabled: true,
          ...(alertType === 'purchase-count' ? {} : { nameFormat: 'first-name' }),
        },
      })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
    }
    expect((await shop.call(saveTestimonials, { body: { isEnabled: true } })).status).toBe(200)
    for (const [at, name] of names.entries()) {
      await shop.sell({
        customer: { name, email: `buyer${at}@x.example`, phone: `+551198765432${at}` },
        items: [{ variantId: '2001', quantity: 1 }],
        placedAt: new Date(app.clock.ms() - (at + 1) * 3_600_000).toISOString(),
        paymentStatus: 'paid',
      })
      await shop.review({ name, email: `buyer${at}@x.example`, status: 'approved', verified: true })
      const quote = await shop.call(createTestimonial, {
        body: { authorName: name, authorTitle: name, text: 'Bom' },
      })
      expect(quote.status).toBe(201)
    }
    await app.database.root
      .updateTable('orders')
      .set({ shipping_address: JSON.stringify({ city: 'joe@x.example' }) })
      .where('store_id', '=', shop.id)
      .execute()
    const reads = (await loadRegistry()).pages
      .filter(({ method, path }) => method === 'GET' && path.startsWith('/storefront/:publicId'))
      .map(({ path }) => path.replace('/storefront/:publicId', '').replace(':productId', '1001'))
    expect(reads.length).toBeGreaterThan(10)
    const texts: string[] = []
    for (const path of reads) {
      for (const query of ['', '?productId=1001&page=1', '?page=product&productId=1001', '?page=home']) {
        const answer = await visit(shop, path.replace(/:\w+/g, 'none') + query)
        texts.push(answer.text)
        expect(isContact.test(answer.text), `${path}${query}: ${answer.text.slice(0, 2000)}`).toBe(false)
      }
    }
    // The answers did contain these people.
    expect(texts.some((text) => text.includes('Alguém de') || text.includes('Alguém deu'))).toBe(true)
    expect(texts.some((text) => text.includes('"name":"Alguém"'))).toBe(true)
    expect(texts.some((text) => text.includes('"authorName":"Alguém"'))).toBe(true)
  },
)
