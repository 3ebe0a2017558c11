/** Reviews by shoppers (reviews, rules 2 and 11). */
import { describe, expect, test } from 'vitest'
import deleteReview from '#operations/reviews/reviews/api/delete-review'
import listReviews from '#operations/reviews/reviews/api/list-reviews'
import moderateReview from '#operations/reviews/reviews/api/moderate-review'
import { findReviewedOrders } from '#operations/reviews/reviews/integrations'
import updateStore from '#operations/store/profile/api/update-store'
import { findToken, type ReviewShop, reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { readRows, setRows } from '#test/support/rows'
import { visit } from '#test/support/storefront'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})

const opinion = {
  productId: '1001',
  rating: 5,
  text: 'Linda caneca',
  name: 'Ana Souza',
  email: 'ana@example.com',
}
const write = (shop: ReviewShop, body: Record<string, unknown>) => visit(shop, '/reviews', { body })
const moderate = (shop: ReviewShop, reviewId: string, status: string) =>
  shop.call(moderateReview, { params: { reviewId }, body: { status } })
const html = { accept: 'text/html' }

async function openShop(settings: Record<string, unknown> = {}): Promise<ReviewShop> {
  await app.setClock('2026-04-01T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings({ request: { delayDays: 0 }, ...settings })
  return shop
}

/** Delivers an order, sends its request at once and returns the link's token. */
async function requestReview(shop: ReviewShop, customer: Record<string, unknown>): Promise<string> {
  const order = await shop.place({ customer, items: [{ variantId: '2001', quantity: 1 }] })
  await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
  await app.drainJobs()
  await app.setClock('2026-04-01T13:01:00.000Z')
  await app.drainJobs()
  return findToken((await shop.mails(customer.email as string))[0]!)
}
const only = async (shop: ReviewShop) => {
  const { body } = await shop.call(listReviews)
  expect(body.total).toBe(1)
  return body.data[0]
}

describe('through the link of a request', () => {
  test('a review by link is verified, ends the reminders, and blocks a second one from the widget by the same email', async () => {
    const shop = await openShop({ reminder: { isEnabled: true, delayDays: 1 } })
    const customer = { name: 'Ana Souza', email: 'ana1@example.com', phone: '+5511988887777' }
    const token = await requestReview(shop, customer)
    const answer = await write(shop, { productId: '1001', rating: 5, text: 'Linda', token })
    expect([answer.status, answer.body]).toEqual([201, { status: 'pending' }])
    const review = await only(shop)
    expect(review).toMatchObject({
      verified: true,
      verifiedSource: 'order',
      source: 'request',
      customerName: 'Ana Souza',
      customerEmail: customer.email,
      productName: 'Caneca',
      status: 'pending',
    })
    expect(await shop.dispatches()).toMatchObject([
      { status: 'reviewed', review_id: review.id, next_reminder_at: null },
    ])
    expect((await write(shop, { ...opinion, email: 'ANA1@example.com' })).status).toBe(409)
    expect(await shop.notices('review-pending')).toHaveLength(1)
    await app.setClock('2026-04-03T13:01:00.000Z')
    await app.drainJobs()
    expect(await shop.mails(customer.email)).toHaveLength(1)
  })

  test('a second review by link replaces the first; a rejected one cannot be changed; a deleted one is not requested again', async () => {
    const shop = await openShop({ autoPublish: { mode: 'rating', minRating: 4 } })
    const token = await requestReview(shop, { name: 'Bia', email: 'bia1@example.com' })
    expect((await write(shop, { productId: '1001', rating: 5, token })).body).toEqual({ status: 'approved' })
    expect((await write(shop, { productId: '1001', rating: 2, text: 'Quebrou', token })).body).toEqual({
      status: 'pending',
    })
    const review = await only(shop)
    expect(review).toMatchObject({ rating: 2, text: 'Quebrou', status: 'pending', moderatedBy: null })
    await app.database.root
      .updateTable('product_reviews')
      .set({ status: 'rejected' })
      .where('id', '=', review.id)
      .execute()
    expect((await write(shop, { productId: '1001', rating: 5, token })).status).toBe(409)
    expect((await shop.call(deleteReview, { params: { reviewId: review.id } })).status).toBe(204)
    expect(await shop.dispatches()).toMatchObject([{ status: 'reviewed', review_id: null }])
    const [{ id }] = (await readRows(shop, 'orders', ['id'])) as [{ id: string }]
    await app.advance(1000)
    await shop.resell({ id }, { fulfillmentStatus: 'delivered' })
    expect(await shop.dispatches()).toHaveLength(1)
  })

  test('a form submitted twice, also concurrently, creates one pending review and one notice', async () => {
    const shop = await openShop({ autoPublish: { mode: 'rating', minRating: 4 } })
    const token = await requestReview(shop, { name: 'Dia', email: 'dia1@example.com' })
    const send = (rating: number) => write(shop, { productId: '1001', rating, token })
    const answers = await Promise.all([send(2), send(2), send(2)])
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201])
    await app.advance(60_000)
    await send(1)
    expect(await shop.notices('review-pending')).toHaveLength(1)
    // Published, then changed into a pending one: that creates a notice.
    await send(5)
    await send(1)
    expect(await shop.notices('review-pending')).toHaveLength(2)
    const once = { ...opinion, email: 'eva1@example.com', rating: 1 }
    const strangers = await Promise.all([write(shop, once), write(shop, once)])
    expect(strangers.map((answer) => answer.status).sort()).toEqual([201, 409])
    expect(await shop.notices('review-pending')).toHaveLength(3)
  })

  test('a product of another order, a forged token and an expired token are refused', async () => {
    const shop = await openShop()
    const token = await requestReview(shop, { name: 'Cia', email: 'cia1@example.com' })
    const other = await write(shop, { productId: '1002', rating: 5, token })
    expect(other).toMatchObject(refused(400, 'productId: is not part of this order'))
    expect((await write(shop, { productId: '1001', rating: 5, token: 'forged' })).status).toBe(400)
    await app.database.root.updateTable('review_tokens').set({ expires_at: app.clock.now() }).execute()
    expect((await write(shop, { productId: '1001', rating: 5, token })).status).toBe(400)
    expect((await visit(shop, `/reviews/form?token=${token}`)).status).toBe(404)
  })

  test('the form works without scripts', async () => {
    const shop = await openShop()
    const token = await requestReview(shop, { name: 'Dia "D" Lima', email: 'dia1@example.com' })
    const form = await visit(shop, `/reviews/form?token=${token}`)
    expect(form.body).toMatchObject({
      name: 'Dia "D" Lima',
      items: [{ productId: '1001', isReviewed: false }],
    })
    const fields = { token, productId: '1001', rating: '4', title: '', text: 'Boa', name: 'Dia', website: '' }
    const sent = await app.fetch(
      new Request(`http://localhost/storefront/${shop.publicId}/reviews`, {
        method: 'POST',
        headers: html,
        body: new URLSearchParams(fields),
      }),
      { ip: '10.0.0.1' },
    )
    expect([sent.status, (await sent.text()).includes('Thank you')]).toEqual([200, true])
    expect(await only(shop)).toMatchObject({ rating: 4, text: 'Boa', title: null, verified: true })
  })
})

describe('on a product page', () => {
  test('publishing follows the rules: verified, rating, images, blocked words', async () => {
    const shop = await openShop({
      autoPublish: { mode: 'rating', minRating: 4, verifiedOnly: false, blockedWords: ['Péssimo'] },
    })
    const status = async (body: Record<string, unknown>) =>
      (await write(shop, { ...opinion, ...body })).body.status
    expect(await status({ email: 'p1@example.com' })).toBe('approved')
    expect(await status({ email: 'p2@example.com', rating: 3 })).toBe('pending')
    expect(await status({ email: 'p3@example.com', text: 'Um PESSIMO produto' })).toBe('pending')
    expect(await status({ email: 'p4@example.com', text: 'pessimos' })).toBe('approved')
    await shop.settings({ autoPublish: { verifiedOnly: true } })
    expect(await status({ email: 'p5@example.com' })).toBe('pending')
    const { body } = await shop.call(listReviews, { query: { status: 'approved' } })
    expect(body.data.map((row: { moderatedBy: string }) => row.moderatedBy)).toEqual(['auto', 'auto'])
  })

  test('a review under a buyer`s email is not verified until the button behind the link is pressed', async () => {
    const shop = await openShop({ autoPublish: { mode: 'all' } })
    const email = 'buyer@example.com'
    await shop.sell({ customer: { name: 'Buyer', email }, items: [{ variantId: '2002', quantity: 1 }] })
    expect((await write(shop, { ...opinion, email: 'Buyer@Example.com' })).status).toBe(201)
    await app.drainJobs()
    expect(await only(shop)).toMatchObject({ verified: false, status: 'pending', orderNumber: null })
    const [mail] = await shop.mails(email)
    const token = encodeURIComponent(findToken(mail!))
    const page = await visit(shop, `/reviews/confirm?token=${token}`, { headers: html })
    expect(page.text).toContain('<button>')
    expect(await only(shop)).toMatchObject({ verified: false })
    expect((await visit(shop, '/reviews/confirm?token=forged', { body: {} })).status).toBe(404)
    expect((await visit(shop, `/reviews/confirm?token=${token}`, { body: {} })).body).toEqual({
      verified: true,
    })
    expect(await only(shop)).toMatchObject({
      verified: true,
      verifiedSource: 'confirmed-email',
      status: 'approved',
    })
    expect((await visit(shop, `/reviews/confirm?token=${token}`, { body: {} })).status).toBe(200)
  })

  test('a stranger`s review under a buyer`s email neither skips their request nor blocks their link', async () => {
    const shop = await openShop()
    const email = 'victim@example.com'
    expect((await write(shop, { ...opinion, text: 'Horrível', email })).status).toBe(201)
    const strangers = await only(shop)
    // The merchant rejects the stranger's review; the buyer's own must not be lost with it.
    expect((await moderate(shop, strangers.id, 'rejected')).status).toBe(200)
    const token = await requestReview(shop, { name: 'Vic', email })
    expect(await shop.dispatches()).toMatchObject([{ status: 'sent', reason: null }])
    expect((await write(shop, { productId: '1001', rating: 5, text: 'Linda', token })).status).toBe(201)
    expect(await only(shop)).toMatchObject({
      text: 'Linda',
      status: 'pending',
      rejectionReason: null,
      verified: true,
      source: 'request',
      reply: null,
    })
    // A rejected review of the buyer stays rejected.
    expect((await moderate(shop, strangers.id, 'rejected')).status).toBe(200)
    expect((await write(shop, { productId: '1001', rating: 5, token })).status).toBe(409)
  })

  test('a stranger`s review does not block an automation that asks for reviews', async () => {
    const shop = await openShop()
    const email = 'asked@example.com'
    const order = await shop.sell({
      customer: { name: 'Asa', email },
      items: [{ variantId: '2001', quantity: 1 }],
    })
    await write(shop, { ...opinion, email })
    expect((await findReviewedOrders(await shop.context(), [order.id])).get(order.id)).not.toBe(
      'not-eligible',
    )
    await setRows(shop, 'product_reviews', { verified: true, verified_source: 'confirmed-email' })
    expect((await findReviewedOrders(await shop.context(), [order.id])).get(order.id)).toBe('not-eligible')
  })

  test('an address without a purchase gets no email', async () => {
    const shop = await openShop()
    await write(shop, { ...opinion, email: 'nobody@example.com' })
    await app.drainJobs()
    expect(await shop.mails('nobody@example.com')).toEqual([])
  })

  test('content that the form does not allow is refused', async () => {
    const shop = await openShop({ form: { requireText: true, allowImages: false } })
    const message = async (body: Record<string, unknown>) =>
      (await write(shop, { ...opinion, ...body })).body.error?.message
    expect(await message({ text: undefined })).toBe('text: is required')
    expect(await message({ name: undefined })).toBe('name: is required')
    expect(await message({ email: undefined })).toBe('email: is required')
    expect(await message({ rating: 6 })).toContain('rating')
    expect(await message({ productId: 'nope' })).toContain('productId')
    expect(await message({ variantId: '2003' })).toContain('variantId')
    expect(await message({ imageUrls: ['https://elsewhere.example/a.jpg'] })).toContain('imageUrls')
    await shop.settings({ form: { allowWithoutPurchase: false } })
    expect((await write(shop, opinion)).status).toBe(403)
  })

  test.each([
    ['en', ['not taken here', 'at most 2', 'not uploaded here']],
    ['pt-BR', ['não são aceitas aqui', 'no máximo 2', 'não foi enviada por aqui']],
    ['es', ['no se aceptan aquí', 'como máximo 2', 'no se subió aquí']],
  ])('picture errors are in %s on a page, and unchanged for scripts', async (locale, words) => {
    const shop = await openShop({ form: { allowImages: false } })
    expect((await shop.call(updateStore, { body: { locale } })).status).toBe(200)
    const elsewhere = (count: number) =>
      Array.from({ length: count }, (_, n) => `https://elsewhere.example/${n}.jpg`)
    const answered = async (count: number, headers = {}) => {
      const body = { ...opinion, imageUrls: elsewhere(count) }
      const answer = await visit(shop, '/reviews', { body, headers })
      expect(answer.status).toBe(400)
      return answer
    }
    const errors = [(await answered(1, html)).text]
    await shop.settings({ form: { allowImages: true, maxImages: 2 } })
    errors.push((await answered(3, html)).text, (await answered(1, html)).text)
    for (const [n, each] of errors.entries()) expect(each).toContain(words[n])
    expect((await answered(3)).body.error.message).toBe('imageUrls: must have at most 2')
    expect((await answered(1)).body.error.message).toBe('imageUrls.0: was not uploaded here')
  })

  test('a bot that fills in the hidden field gets a normal answer, and nothing is stored', async () => {
    const shop = await openShop()
    expect((await write(shop, { ...opinion, website: 'https://spam.example' })).status).toBe(201)
    expect((await shop.call(listReviews)).body.total).toBe(0)
  })

  test('pictures must be uploaded here, hold the review for moderation, and can be hidden', async () => {
    const shop = await openShop({ autoPublish: { mode: 'all', verifiedOnly: false } })
    const png = Buffer.from('89504e470d0a1a0a', 'hex')
    const upload = await visit(shop, '/reviews/upload-url', {
      body: { fileName: 'a.png', contentType: 'image/png', size: png.length },
    })
    expect(upload.status).toBe(200)
    const { uploadUrl, headers, fileUrl } = upload.body
    await app.fetch(new Request(uploadUrl, { method: 'PUT', headers, body: png }), { ip: '10.0.0.1' })
    expect((await write(shop, { ...opinion, imageUrls: ['https://elsewhere.example/a.png'] })).status).toBe(
      400,
    )
    expect((await write(shop, { ...opinion, imageUrls: [fileUrl] })).body).toEqual({ status: 'pending' })
    expect((await only(shop)).images).toMatchObject([{ url: fileUrl }])
  })

  test('while reviews are off or not in the plan, the pages are 404', async () => {
    const shop = await openShop({ isEnabled: false })
    expect((await write(shop, opinion)).status).toBe(404)
    expect((await visit(shop, '/products/1001/reviews')).status).toBe(404)
    expect((await visit(shop, '/widgets')).body.reviews).toBeUndefined()
  })
})

describe('GET /products/:productId/reviews', () => {
  test('approved reviews are listed in the order of the widget, without private fields', async () => {
    const shop = await openShop({ widget: { perPage: 2 } })
    const at = (day: number) => new Date(Date.UTC(2026, 2, day))
    await shop.review({ rating: 4, status: 'approved', reviewedAt: at(1), name: 'Ana Souza Lima' })
    const featured = await shop.review({ rating: 5, status: 'approved', reviewedAt: at(2) })
    await shop.review({ rating: 5, status: 'approved', reviewedAt: at(3) })
    await shop.review({ rating: 1, status: 'pending' })
    await shop.review({ rating: 1, status: 'approved', productId: '1002' })
    await app.database.root
      .updateTable('product_reviews')
      .set({ featured: true })
      .where('id', '=', featured)
      .execute()
    const first = await visit(shop, '/products/1001/reviews')
    expect(first.body).toMatchObject({
      average: 4.67,
      total: 3,
      limit: 2,
      distribution: { 1: 0, 4: 1, 5: 2 },
    })
    expect(first.body.data[0].id).toBe(featured)
    const second = await visit(shop, '/products/1001/reviews?page=2')
    expect(second.body.data).toMatchObject([{ name: 'Ana L.', rating: 4 }])
    expect(first.text).not.toContain('@example.com')
    const widgets = await visit(shop, '/widgets?page=product&productId=1001')
    expect(widgets.body.reviews).toMatchObject({ layout: 'list', form: { maxImages: 5 } })
  })
})
