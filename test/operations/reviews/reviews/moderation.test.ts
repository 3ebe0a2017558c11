/** Moderation, single and in bulk; lists, metrics and export (reviews, rules 4 and 9). */
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import bulkModerate from '#operations/reviews/reviews/api/bulk-moderate'
import deleteReview from '#operations/reviews/reviews/api/delete-review'
import exportReviews from '#operations/reviews/reviews/api/export-reviews'
import featureReview from '#operations/reviews/reviews/api/feature-review'
import getMetrics from '#operations/reviews/reviews/api/get-metrics'
import getReview from '#operations/reviews/reviews/api/get-review'
import listReviews from '#operations/reviews/reviews/api/list-reviews'
import moderateReview from '#operations/reviews/reviews/api/moderate-review'
import replyToReview from '#operations/reviews/reviews/api/reply-to-review'
import showImages from '#operations/reviews/reviews/api/show-images'
import verifyReview from '#operations/reviews/reviews/api/verify-review'
import overview from '#operations/store/dashboard/api/get-overview'
import type { Operation } from '#runtime/operation'
import { newId } from '#runtime/values/ids'
import { type ReviewShop, reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'

const app = await testApp()
await app.setClock('2026-04-10T12:00:00.000Z')

const change = (shop: ReviewShop, operation: Operation, reviewId: string, body: Record<string, unknown>) =>
  shop.call(operation, { params: { reviewId }, body })

describe('moderation', () => {
  test('a review can be approved, featured and rejected', async () => {
    const shop = await reviewShop(app)
    await shop.settings({})
    const [one, two] = [await shop.review(), await shop.review()]
    expect((await shop.call(listReviews, { query: { status: 'pending' } })).body.total).toBe(2)
    const approved = await change(shop, moderateReview, one, { status: 'approved' })
    expect(approved.body).toMatchObject({
      status: 'approved',
      moderatedBy: 'Olivia Owner',
      rejectionReason: null,
    })
    expect((await change(shop, moderateReview, one, { status: 'approved' })).status).toBe(409)
    expect((await visit(shop, '/products/1001/reviews')).body.total).toBe(1)
    expect((await change(shop, featureReview, two, { featured: true })).status).toBe(409)
    expect((await change(shop, featureReview, one, { featured: true })).body.featured).toBe(true)
    const rejected = await change(shop, moderateReview, one, { status: 'rejected', reason: 'Off topic' })
    expect(rejected.body).toMatchObject({ status: 'rejected', featured: false, rejectionReason: 'Off topic' })
    expect((await visit(shop, '/products/1001/reviews')).body).toMatchObject({ total: 0, average: null })
    expect((await change(shop, replyToReview, one, { text: 'Hi' })).status).toBe(409)
    expect((await change(shop, moderateReview, one, { status: 'approved' })).body.rejectionReason).toBeNull()
    expect((await change(shop, moderateReview, newId(1), { status: 'approved' })).status).toBe(404)
  })

  test('bulk moderation handles each review independently, in the given order', async () => {
    const shop = await reviewShop(app)
    const pending = await shop.review()
    const approved = await shop.review({ status: 'approved' })
    const unknown = newId(1)
    const bulk = (ids: string[]) => shop.call(bulkModerate, { body: { ids, status: 'approved' } })
    const { status, body } = await bulk([pending, approved, unknown, pending])
    expect([status, body.updated, body.failed]).toEqual([200, 1, 2])
    const codes = body.data.map((each: { id: string; error: { code: string } | null }) => [
      each.id,
      each.error?.code,
    ])
    expect(codes).toEqual([
      [pending, undefined],
      [approved, 'conflict'],
      [unknown, 'not_found'],
    ])
    const none = await bulk([approved])
    expect([none.status, none.body.updated]).toEqual([200, 0])
  })

  test('one of two concurrent moderators succeeds, the other gets a conflict', async () => {
    const shop = await reviewShop(app)
    const ids = await Promise.all(Array.from({ length: 12 }, () => shop.review()))
    const [first, second] = await Promise.all([
      shop.call(bulkModerate, { body: { ids, status: 'approved' } }),
      shop.call(bulkModerate, { body: { ids: [...ids].reverse(), status: 'approved' } }),
    ])
    expect([first.body.updated, second.body.updated].sort((a, b) => a - b)).toEqual([0, 12])
    const single = await shop.review()
    const both = await Promise.all([
      change(shop, moderateReview, single, { status: 'approved' }),
      change(shop, moderateReview, single, { status: 'approved' }),
    ])
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 409])
  })

  test('verified, images and reply can be set; setting equal values changes nothing', async () => {
    const shop = await reviewShop(app)
    const id = await shop.review()
    expect((await change(shop, verifyReview, id, { verified: true })).body).toMatchObject({
      verified: true,
      verifiedSource: 'merchant',
    })
    await app.database.root
      .updateTable('product_reviews')
      .set({ verified_source: 'order' })
      .where('id', '=', id)
      .execute()
    expect((await change(shop, verifyReview, id, { verified: true })).body.verifiedSource).toBe('order')
    expect((await change(shop, verifyReview, id, { verified: false })).body.verifiedSource).toBeNull()
    expect((await change(shop, showImages, id, { showImages: false })).body.showImages).toBe(false)
    const replied = await change(shop, replyToReview, id, { text: 'Obrigada!' })
    expect(replied.body.reply).toMatchObject({ text: 'Obrigada!', repliedAt: '2026-04-10T12:00:00.000Z' })
    const before = (await shop.call(getReview, { params: { reviewId: id } })).headers.get('etag')
    await change(shop, showImages, id, { showImages: false })
    expect((await shop.call(getReview, { params: { reviewId: id } })).headers.get('etag')).toBe(before)
    expect((await change(shop, replyToReview, id, { text: null })).body.reply).toBeNull()
    expect((await change(shop, replyToReview, id, { text: '' })).status).toBe(400)
  })

  test('a deleted review is not found', async () => {
    const shop = await reviewShop(app)
    const params = { reviewId: await shop.review() }
    expect((await shop.call(deleteReview, { params })).status).toBe(204)
    expect((await shop.call(getReview, { params })).status).toBe(404)
  })
})

describe('the list', () => {
  test('the list filters, searches without accents and sorts', async () => {
    const shop = await reviewShop(app)
    const at = (day: number) => new Date(Date.UTC(2026, 2, day, 12))
    const a = await shop.review({
      rating: 5,
      status: 'approved',
      text: 'Ótima xícara',
      reviewedAt: at(1),
      verified: true,
    })
    const b = await shop.review({
      rating: 2,
      status: 'rejected',
      reviewedAt: at(2),
      productId: '1002',
      name: 'José Lima',
    })
    const c = await shop.review({ rating: 4, reviewedAt: at(3), source: 'import' })
    const ids = async (query: Record<string, string | number | boolean | readonly string[]>) =>
      (await shop.call(listReviews, { query })).body.data.map((row: { id: string }) => row.id)
    expect(await ids({})).toEqual([c, b, a])
    expect(await ids({ sort: 'oldest' })).toEqual([a, b, c])
    expect(await ids({ sort: 'highest' })).toEqual([a, c, b])
    expect(await ids({ sort: 'lowest' })).toEqual([b, c, a])
    expect(await ids({ status: 'approved,rejected' })).toEqual([b, a])
    expect(await ids({ rating: ['4', '5'] })).toEqual([c, a])
    expect(await ids({ productId: '1002' })).toEqual([b])
    expect(await ids({ verified: true })).toEqual([a])
    expect(await ids({ hasReply: true })).toEqual([])
    expect(await ids({ source: 'import' })).toEqual([c])
    expect(await ids({ search: 'OTIMA XICARA' })).toEqual([a])
    expect(await ids({ search: 'josé' })).toEqual([b])
    expect(await ids({ search: '50%' })).toEqual([])
    expect(await ids({ startDate: '2026-03-02', endDate: '2026-03-02' })).toEqual([b])
    expect(await ids({ page: 2, limit: 2 })).toEqual([a])
    expect((await shop.call(listReviews, { query: { status: 'nope' } })).status).toBe(400)
  })

  test('the home page counts pending reviews and shows the newest', async () => {
    const shop = await reviewShop(app)
    await shop.review({ status: 'approved' })
    const newest = await shop.review()
    const { body } = await shop.call(overview)
    expect(body.pendingItems).toContainEqual({ type: 'reviews-pending', count: 1 })
    expect(body.recentReviews).toHaveLength(2)
    expect(body.recentReviews[0]).toMatchObject({ id: newest, productName: 'Caneca', status: 'pending' })
  })
})

describe('metrics', () => {
  test('the response rate counts reviews by today: 6 of 40 requests in March', async () => {
    const shop = await reviewShop(app)
    const march = (day: number) => new Date(Date.UTC(2026, 2, day, 15))
    await app.database.root
      .insertInto('review_dispatches')
      .values(
        Array.from({ length: 41 }, (_none, n) => ({
          store_id: shop.id,
          id: newId(app.clock.ms()),
          order_id: `o${n}`,
          order_number: `o${n}`,
          order_item_id: 'i1',
          product_id: '1001',
          product_name: 'Caneca',
          channel: 'email',
          status: n < 6 ? 'reviewed' : n < 39 ? 'sent' : n === 39 ? 'failed' : 'scheduled',
          scheduled_at: march(1),
          sent_at: n < 40 ? march(1 + (n % 30)) : null,
          search_text: '',
          created_at: march(1),
          updated_at: march(1),
        })) as never,
      )
      .execute()
    await shop.review({ rating: 5, status: 'approved', reviewedAt: march(2), verified: true })
    await shop.review({ rating: 4, status: 'approved', reviewedAt: march(3) })
    await shop.review({ rating: 4, status: 'approved', reviewedAt: march(4), source: 'import' })
    await shop.review({ rating: 1, status: 'rejected', reviewedAt: march(5) })
    await shop.review({ rating: 1, status: 'pending', reviewedAt: new Date('2026-04-01T02:59:00Z') })
    await shop.review({ rating: 2, status: 'approved', reviewedAt: new Date('2026-04-01T03:00:00Z') })
    const query = { startDate: '2026-03-01', endDate: '2026-03-31' }
    const { body } = await shop.call(getMetrics, { query })
    expect(body).toEqual({
      ...query,
      requested: 40,
      received: 4,
      responseRate: 15,
      averageRating: 4.33,
      ratingDistribution: { 1: 0, 2: 0, 3: 0, 4: 2, 5: 1 },
      pending: 1,
      approved: 3,
      rejected: 1,
      verified: 1,
      withImages: 0,
      scheduled: 1,
      allTime: { approved: 4, averageRating: 3.75 },
    })
    const year = { startDate: '2025-04-10', endDate: '2026-04-10' }
    expect((await shop.call(getMetrics, { query: year })).status).toBe(400)
    const none = await shop.call(getMetrics, { query: { ...query, productId: '1002' } })
    expect(none.body).toMatchObject({
      requested: 0,
      responseRate: null,
      averageRating: null,
      allTime: { approved: 0, averageRating: null },
    })
  })
})

describe('the export', () => {
  test('the export uses the filters of the list, is emailed to the member, and can be imported again', async () => {
    const shop = await reviewShop(app)
    await shop.review({ rating: 5, status: 'approved', text: '=SUM(1;2)\nduas linhas' })
    await shop.review({ rating: 1 })
    const { status, body } = await shop.call(exportReviews, { query: { status: 'approved' } })
    expect([status, body.email]).toEqual([202, shop.email])
    await app.drainJobs()
    const [mail] = await shop.mails(shop.email)
    const csv = Buffer.from(mail!.attachments[0]!.content).toString()
    const rows = parse(csv, { columns: true, bom: true }) as Record<string, string>[]
    expect(rows).toMatchObject([
      { product_id: '1001', rating: '5', text: "'=SUM(1;2)\nduas linhas", status: 'approved' },
    ])
  })
})
