/** Averages and sort orders for shoppers (reviews, rule 11). */
import { expect, test } from 'vitest'
import deleteReview from '#operations/reviews/reviews/api/delete-review'
import moderateReview from '#operations/reviews/reviews/api/moderate-review'
import { reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 10_000, storefrontWritesIp: 10_000 })

test('averages on product pages and cards update with each review at once', async () => {
  const shop = await reviewShop(app)
  await shop.settings({ autoPublish: { mode: 'all', verifiedOnly: false } })
  const shown = async () => {
    const { reviews, cards } = (
      await visit(shop, '/widgets?page=product&productId=1001&cards=1001,1002,1003')
    ).body
    return [reviews.summary, cards['1001']]
  }
  const none = { productId: '1001', average: null, total: 0 }
  expect(await shown()).toEqual([none, {}])
  const waiting = await shop.review({ rating: 5 })
  const approve = (reviewId: string, status: string) =>
    shop.call(moderateReview, { params: { reviewId }, body: { status } })
  expect((await approve(waiting, 'approved')).status).toBe(200)
  const one = { average: 5, total: 1 }
  expect(await shown()).toEqual([{ productId: '1001', ...one }, { reviews: one }])
  const body = { productId: '1001', rating: 4, text: 'Boa', name: 'Ana Souza', email: 'ana@example.com' }
  expect((await visit(shop, '/reviews', { body })).body).toEqual({ status: 'approved' })
  expect((await shown())[0]).toEqual({ productId: '1001', average: 4.5, total: 2 })
  await approve(waiting, 'rejected')
  expect((await shown())[0]).toEqual({ productId: '1001', average: 4, total: 1 })
  await approve(waiting, 'approved')
  await shop.call(deleteReview, { params: { reviewId: waiting } })
  expect((await shown())[0]).toEqual({ productId: '1001', average: 4, total: 1 })
  await shop.settings({ widget: { showStarsInProductList: false } })
  expect((await shown())[1]).toEqual({})
})

test("a shopper may choose another sort order than the widget's", async () => {
  const shop = await reviewShop(app)
  await shop.settings({ widget: { sort: 'lowest' } })
  for (const rating of [3, 5, 1]) await shop.review({ rating, status: 'approved' })
  const ratings = async (query: string) =>
    (await visit(shop, `/products/1001/reviews${query}`)).body.data?.map(
      (each: { rating: number }) => each.rating,
    )
  expect(await ratings('')).toEqual([1, 3, 5])
  expect(await ratings('?sort=highest')).toEqual([5, 3, 1])
  expect((await visit(shop, '/products/1001/reviews?sort=best')).status).toBe(400)
})
