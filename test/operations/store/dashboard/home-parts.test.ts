/** Parts of other sections on the home page, in an app with its own extensions. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import getOverview from '#operations/store/dashboard/api/get-overview'
import { isoInstant, jsonObject } from '#runtime/database/json'
import type { SectionExtensions } from '#runtime/extensions'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

// Any tenant table can stand in for another section's table.
const extensions: SectionExtensions = {
  pending: {
    'conversations-unread': {
      feature: 'inbox',
      count: (db) =>
        db.selectFrom('opt_outs').where('note', '=', 'unread').select(sql`count(*)::int`.as('n')),
    },
  },
  stockRequests: {
    feature: 'chat-agent',
    rows: (db) => db.selectFrom('opt_outs').select('created_at as at'),
  },
  recentReviews: {
    feature: 'chat-agent',
    newest: (db) =>
      db
        .selectFrom(
          db
            .selectFrom('opt_outs as o')
            .orderBy('o.created_at', 'desc')
            .limit(5)
            .select(
              jsonObject({
                id: 'o.id',
                productName: 'o.phone',
                customerName: sql`null`,
                rating: sql`5`,
                text: 'o.note',
                status: sql`'approved'`,
                createdAt: isoInstant('o.created_at'),
              }).as('review'),
            )
            .as('r'),
        )
        .select(sql`coalesce(json_agg(r.review), '[]')`.as('reviews')),
  },
}
const app = await testApp({}, { extensions })
await app.setClock('2026-11-20T18:00:00.000Z')

test('the answer includes counts and lists of sections whose feature is in the plan', async () => {
  const overviewOn = async (plan: string) => {
    const shop = await store(app, { plan })
    const ctx = await shop.context()
    const times = ['2026-11-12T12:00:00.000Z', '2026-11-19T12:00:00.000Z', '2026-11-20T12:00:00.000Z']
    const rows = times.map((at, i) => ({
      id: ctx.newId(),
      phone: `+551190000000${i}`,
      phone_key: `+551190000000${i}`,
      note: i === 0 ? 'read' : 'unread',
      source: 'manual',
      created_at: at,
      updated_at: at,
    }))
    await ctx.db.insertInto('opt_outs').values(rows).execute()
    const { body } = await shop.call(getOverview)
    return {
      unread: body.pendingItems[2],
      requests: [body.metrics.stockAlertRequests.value, body.metrics.stockAlertRequests.previousValue],
      reviews: body.recentReviews.map((each: { productName: string }) => each.productName),
    }
  }
  expect(await overviewOn('scale')).toEqual({
    unread: { type: 'conversations-unread', count: 2 },
    requests: [2, 1],
    reviews: ['+5511900000002', '+5511900000001', '+5511900000000'],
  })
  expect(await overviewOn('starter')).toEqual({
    unread: { type: 'conversations-unread', count: 0 },
    requests: [0, 0],
    reviews: [],
  })
})
