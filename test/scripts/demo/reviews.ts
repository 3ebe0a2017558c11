/** Numbers of the demo's reviews, requests and testimonials. */
import { expect, test } from 'vitest'
import type { Seeded } from './seeded-demo.ts'

export function reviewTests({ app, at, one, read }: Seeded): void {
  test('reviews have the planned numbers', async () => {
    expect(
      await one(`select count(*)::int as all, count(distinct product_id)::int as products,
        count(*) filter (where status = 'approved')::int as approved,
        count(*) filter (where status = 'pending')::int as pending,
        count(*) filter (where status = 'rejected')::int as rejected,
        count(*) filter (where source = 'request')::int as request,
        count(*) filter (where source = 'storefront')::int as storefront,
        count(*) filter (where source = 'import')::int as import,
        count(*) filter (where has_images)::int as images,
        count(*) filter (where has_images and not show_images)::int as hidden,
        count(*) filter (where featured)::int as featured, count(*) filter (where has_reply)::int as replies,
        count(*) filter (where reviewed_at < '${(await at()).toISOString()}'::timestamptz
          - interval '400 days')::int as ancient
       from product_reviews where store_id = $aurora`),
    ).toEqual({
      all: 180,
      products: 24,
      approved: 148,
      pending: 24,
      rejected: 8,
      request: 110,
      storefront: 40,
      import: 30,
      images: 40,
      hidden: 2,
      featured: 12,
      replies: 35,
      ancient: 0,
    })
    const ratings = await one<{ ratings: number[] }>(
      `select array_agg(n order by rating)::int[] as ratings from (select rating, count(*)::int as n
       from product_reviews where store_id = $aurora group by rating) r`,
    )
    expect(ratings.ratings).toEqual([8, 10, 20, 46, 96])
    const newest = await read('aurora-supply', '/product-reviews/list?limit=25')
    expect(newest.data.map((row: { status: string }) => row.status === 'pending')).toEqual([
      ...Array(24).fill(true),
      false,
    ])
    expect(
      await one(`select count(distinct r.phone_key)::int as reviewers from product_reviews r
        join contacts c on c.store_id = r.store_id and c.phone_key = r.phone_key where r.store_id = $aurora`),
    ).toEqual({ reviewers: 10 })
    expect(
      await one(`select count(*)::int as recent from product_reviews where store_id = $aurora
        and reviewed_at > '${(await at()).toISOString()}'::timestamptz - interval '7 days'`),
    ).toEqual({ recent: 6 })
  })

  test('requests have the planned numbers', async () => {
    const statuses = await one<{ n: Record<string, number> }>(
      `select json_object_agg(status, n) as n from (select status, count(*)::int as n from review_dispatches
       where store_id = $aurora group by status) d`,
    )
    expect(statuses.n).toEqual({
      reviewed: 110,
      sent: 190,
      scheduled: 26,
      skipped: 14,
      cancelled: 12,
      failed: 8,
    })
    expect(
      await one(`select count(distinct message_id)::int as messages,
        count(distinct message_id) filter (where channel = 'messaging')::int as messaging,
        count(*) filter (where status = 'reviewed' and review_id is null)::int as lost,
        count(*) filter (where not exists (select 1 from order_items i where i.store_id = d.store_id
          and i.order_id = d.order_id and i.id = d.order_item_id))::int as unreal
        from review_dispatches d where store_id = $aurora`),
    ).toEqual({ messages: 240, messaging: 144, lost: 0, unreal: 0 })
    const waiting = await read('aurora-supply', '/product-reviews/dispatches?limit=100')
    expect(waiting.total).toBe(26)
    const times = waiting.data.map((row: { scheduledAt: string }) => Date.parse(row.scheduledAt))
    expect(Math.min(...times)).toBeGreaterThan(app.clock.ms())
    expect(Math.max(...times)).toBeLessThan(app.clock.ms() + 11 * 86_400_000)
  })

  test('settings and testimonials exist, also for the second tenant', async () => {
    const settings = await read('aurora-supply', '/product-reviews/settings')
    expect(settings).toMatchObject({
      isEnabled: true,
      request: { trigger: 'delivered', delayDays: 7, channel: 'messaging-or-email' },
      reminder: { isEnabled: true },
      autoPublish: { mode: 'rating' },
    })
    expect(settings.message.officialapiTemplateId).toBeGreaterThan(0)
    const { data, settings: look } = await read('aurora-supply', '/store-testimonials')
    expect(
      data.map((each: { position: number; isEnabled: boolean }) => [each.position, each.isEnabled]),
    ).toEqual([
      [1, true],
      [2, true],
      [3, true],
      [4, true],
      [5, true],
      [6, false],
    ])
    expect(look.isEnabled).toBe(true)
    expect(
      await one(`select (select count(*)::int from product_reviews r where r.store_id = s.id) as reviews,
        (select count(*)::int from testimonials t where t.store_id = s.id) as testimonials
        from stores s where slug = 'borealis-goods'`),
    ).toEqual({ reviews: 3, testimonials: 1 })
  })
}
