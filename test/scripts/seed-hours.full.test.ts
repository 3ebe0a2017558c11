/** The demo is seeded at any hour, which determines the orders and how many are left to choose from. */
import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'

test.each(['2026-11-21T17:46:00Z', '2026-11-21T09:15:00Z'])(
  'the demo can be seeded at %s, when few orders of the last weeks are free',
  async (at) => {
    const app = await testApp()
    await app.setClock(at)
    await seedDemo(app.services)
    const counts = await app.database.query<{ exchanges: number; reviewed: number; lately: number }>(
      `select (select count(*)::int from exchange_requests where store_id = s.id) as exchanges,
        (select count(*)::int from review_dispatches where store_id = s.id and status = 'reviewed') as reviewed,
        (select count(*)::int from review_dispatches where store_id = s.id and status = 'reviewed'
          and sent_at > $1::timestamptz - interval '28 days') as lately
       from stores s where slug = 'aurora-supply'`,
      [at],
    )
    expect(counts).toEqual([{ exchanges: 28, reviewed: 110, lately: 8 }])
  },
)
