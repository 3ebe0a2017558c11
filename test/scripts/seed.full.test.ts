/** The demo: planned numbers of its pages, seeded twice without duplicates, and no empty page. */

import { DateTime } from 'luxon'
import { describe, expect, inject, test } from 'vitest'
import type { Database } from '#db/database'
import { dayMs } from '#runtime/durations'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { loadRegistry } from '#runtime/registry/registry'
import type { Method } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { seedDemo } from '#scripts/seed/demo'
import { seedLoad } from '#scripts/seed/load'
import { makeStores } from '#scripts/seed/load-stores'
import { isDemoMissing } from '#scripts/seed/marker'
import { type TestApp, testApp } from '#test/support/app'
import { frozenClock, testsBeginAt } from '#test/support/test-clock'
import { automationTests } from './demo/automations.ts'
import { inboxTests } from './demo/inbox.ts'
import { jobTests } from './demo/jobs.ts'
import { lookTests } from './demo/looks.ts'
import { mediaTests } from './demo/media.ts'
import { promotionTests } from './demo/promotions.ts'
import { reviewTests } from './demo/reviews.ts'
import { seeded } from './demo/seeded-demo.ts'

const registry = await loadRegistry()
/** Hashes of keys are in the lookup index that maps keys to stores. */
const withKeys = (counts: Record<string, number>, more: number): Record<string, number> => ({
  ...counts,
  api_keys: counts.api_keys! + more,
  ...(counts.directory === undefined ? {} : { directory: counts.directory + more }),
})
/** On a cluster, rows are not bulk-loaded. */
const isCluster = inject('nodes').length > 1
const zone = 'America/Sao_Paulo'

/** A morning, and the first half minute of a month's last day in the store's zone: the shortest possible today. */
const moments: [name: string, at: Date][] = [
  ['in the morning', testsBeginAt],
  ['just after midnight', new Date('2027-01-31T03:00:30.000Z')],
]

describe.each(moments)('%s', async (_name, at) => {
  const clock = frozenClock(at)
  const app = await testApp({}, { clock })
  const wasMissing = await isDemoMissing(app.services)
  const demo = await seedDemo(app.services)
  const storeId = demo.stores.find((each) => each.slug === 'aurora-supply')!.id
  const borealisId = demo.stores.find((each) => each.slug === 'borealis-goods')!.id
  const rows = readRows(app.database)
  const now = clock.now()

  test('an empty database has no demo, a seeded one has', async () => {
    expect([wasMissing, await isDemoMissing(app.services)]).toEqual([true, false])
  })

  test('a second run only creates keys; an interrupted one continues without duplicates', async () => {
    const before = await rowCounts(app.database)
    const again = await seedDemo(app.services)
    expect(again.stores).toEqual(demo.stores)
    expect(await rowCounts(app.database)).toEqual(withKeys(before, 5))
    await app.database.query(
      `update server_settings set value = value || '{"isComplete": false}' where name = 'demo'`,
      [],
    )
    await seedDemo(app.services, 'owner')
    expect(await rowCounts(app.database)).toEqual(withKeys(before, 6))
    const statuses = await Promise.all(
      again.keys.map(async ({ key }) => (await call(app, key, 'GET', '/operations')).status),
    )
    expect(statuses).toEqual([401, 401, 401, 401, 401])
  })

  test('Aurora is on its fourteenth monthly period, with people, branding and invitations', async () => {
    const [subscription] = await rows<Record<string, unknown>>(
      `select plan_id, status, billing_cycle, price, currency, anchor_at, current_period_start,
        current_period_end from subscriptions where store_id = $1`,
      [storeId],
    )
    expect(subscription).toMatchObject({
      plan_id: 'scale',
      status: 'active',
      billing_cycle: 'monthly',
      price: '799.00',
    })
    const begun = now.getTime() - (subscription!.current_period_start as Date).getTime()
    // In a month without that day, the period begins on its last day.
    expect(begun).toBeGreaterThanOrEqual(12 * dayMs)
    expect(begun).toBeLessThan(15 * dayMs)
    expect(
      DateTime.fromJSDate(subscription!.anchor_at as Date, { zone: 'utc' })
        .plus({ months: 13 })
        .toJSDate(),
    ).toEqual(subscription!.current_period_start)
    const people = await rows(`select name, role from store_people where store_id = $1 order by joined_at`, [
      storeId,
    ])
    expect(people.map((each) => each.role)).toEqual(['owner', 'member', 'agent'])
    const invitations = await rows<{ expires_at: Date }>(
      `select role, expires_at from invitations where store_id = $1 order by expires_at`,
      [storeId],
    )
    expect(invitations.map((each) => each.expires_at > now)).toEqual([false, true])
    const agencies = await rows(`select name from store_agencies where store_id = $1`, [storeId])
    expect(agencies).toEqual([{ name: 'Northlight Studio' }])
  })

  test('the platform has the catalog and customers, and the orders are copied', async () => {
    const platform = app.services.adapters.ecommerce.sandbox!
    const store = { id: storeId, credentials: null }
    const { products, total } = await platform.searchProducts(store, { sort: 'name', page: 1, limit: 100 })
    const stockOf = new Map(products.map((each) => [each.id, each.stock]))
    expect(total).toBe(40)
    expect(['1036', '1037', '1038', '1039'].map((id) => stockOf.get(id))).toEqual([2, 0, 0, 0])
    expect(products.filter((each) => !each.isPublished).map((each) => each.id)).toEqual(['1040'])
    const categories = await platform.listCategories(store)
    expect(categories.map((each) => each.id).sort()).toEqual(['301', '302', '303', '304', '305', '306'])
    expect(categories.filter((each) => each.parentId !== null)).toHaveLength(2)

    const [placed] = await rows<Record<string, number>>(
      `select count(*)::int as orders, min(id::int) as first, max(id::int) as last,
        count(*) filter (where placed_at > $2::timestamptz - interval '120 days')::int as recent,
        count(*) filter (where placed_at > $2::timestamptz - interval '24 hours')::int as today,
        count(*) filter (where placed_at > $2::timestamptz)::int as future,
        count(*) filter (where placed_at < $2::timestamptz - interval '400 days')::int as ancient,
        count(*) filter (where payment_status = 'pending')::int as unpaid,
        count(*) filter (where status = 'cancelled')::int as cancelled,
        count(*) filter (where payment_status = 'partially-refunded')::int as partly,
        count(*) filter (where payment_status = 'refunded')::int as wholly,
        count(*) filter (where currency = 'USD' and placed_at < $2::timestamptz - interval '380 days')::int as dollars
       from orders where store_id = $1`,
      [storeId, now],
    )
    const { today, ...counts } = placed!
    expect(today).toBeGreaterThanOrEqual(3)
    expect(counts).toEqual({
      orders: 900,
      first: 9001,
      last: 9900,
      recent: 450,
      future: 0,
      ancient: 0,
      unpaid: 40,
      cancelled: 30,
      partly: 20,
      wholly: 12,
      dollars: 3,
    })
    const days = await rows<{ orders: number }>(
      `select count(o.id)::int as orders
       from generate_series(0, 13) as n left join orders o on o.store_id = $1
        and (o.placed_at at time zone $3)::date = ($2::timestamptz at time zone $3)::date - n
       group by n`,
      [storeId, now, zone],
    )
    expect(Math.min(...days.map((each) => each.orders))).toBeGreaterThanOrEqual(2)
    const sums = await rows(
      `select o.id from orders o join order_items i on i.store_id = o.store_id and i.order_id = o.id
       where o.store_id = $1 group by o.store_id, o.id
       having sum(i.total) + max(o.shipping) <> max(o.total) or max(o.subtotal) - max(o.discount) <> sum(i.total)`,
      [storeId],
    )
    expect(sums).toEqual([])
    const [differing] = await rows<{ orders: number }>(
      `select count(*)::int as orders from orders o left join sandbox_objects s
        on s.store_id = o.store_id and s.kind = 'order' and s.id = o.id and (s.data ->> 'total')::numeric = o.total
       where o.store_id = $1 and s.id is null`,
      [storeId],
    )
    expect(differing).toEqual({ orders: 0 })
  })

  test('a sync of the regulars would add three', async () => {
    const platform = app.services.adapters.ecommerce.sandbox!
    const customers = await walk((cursor) =>
      platform
        .listCustomers({ id: storeId, credentials: null }, { limit: 100, ...(cursor ? { cursor } : {}) })
        .then(({ customers: rows, next }) => ({ rows, next })),
    )
    expect(customers).toHaveLength(300)
    const listed = await rows<{ platform_customer_id: string }>(
      `select c.platform_customer_id from list_contacts c join contact_lists l on l.store_id = c.store_id and l.id = c.list_id
       where l.store_id = $1 and l.name = 'Clientes recorrentes'`,
      [storeId],
    )
    const inList = new Set(listed.map((each) => each.platform_customer_id))
    const matching = customers.filter((each) => each.ordersCount >= 4).map((each) => each.id)
    expect(matching.filter((id) => inList.has(id))).toHaveLength(inList.size)
    expect(matching).toHaveLength(inList.size + 3)
  })

  test('the official number is selected, with templates in every state', async () => {
    const [number] = await rows(
      `select s.messaging_connection_type as type, c.status, c.phone from stores s
       join messaging_connections c on c.store_id = s.id and c.type = s.messaging_connection_type where s.id = $1`,
      [storeId],
    )
    expect(number).toEqual({ type: 'official', status: 'connected', phone: '+551140001000' })
    const templates = await rows<{ key: string; n: number }>(
      `select case when status = 'approved' then language else status end as key, count(*)::int as n
       from message_templates where store_id = $1 group by 1`,
      [storeId],
    )
    expect(byKey(templates)).toEqual({ pt_BR: 7, en_US: 2, pending: 1, rejected: 1, paused: 1 })
    const [owner] = (await seedDemo(app.services, 'owner')).keys
    const synced = await call(app, owner!.key, 'POST', '/messaging/templates/sync')
    expect(synced.body).toMatchObject({ added: 0, updated: 0, removed: 0, unchanged: 12 })
  })

  test('the chat button, two phones of the assistant and 25 single sends exist', async () => {
    const [owner] = (await seedDemo(app.services, 'owner')).keys
    const read = async (path: string) => (await call(app, owner!.key, 'GET', path)).body
    expect(await read('/messaging-button')).toMatchObject({
      isEnabled: true,
      effectivePhone: '+551140001000',
      attendants: [{ name: 'Marco' }, { name: 'Ada' }],
      schedule: { isEnabled: true },
    })
    expect(await read('/chat-agent/bindings')).toMatchObject({
      data: [{ member: { name: 'Marco Teles' } }, { member: { name: 'Olivia Prado' } }],
    })
    expect(await read('/chat-agent/usage')).toMatchObject({ used: 37, bindings: 2 })
    const sends = await rows<{ key: string; n: number }>(
      `select purpose as key, count(*)::int as n from direct_messages where store_id = $1 group by 1`,
      [storeId],
    )
    expect(byKey(sends)).toEqual({ 'template-test': 6, message: 19 })
  })

  test('lists, opt-outs and subscribers have the planned numbers', async () => {
    const lists = await rows<{ key: string; n: number }>(
      `select l.name as key, count(c.id)::int as n from contact_lists l
       join list_contacts c on c.store_id = l.store_id and c.list_id = l.id
       where l.store_id = $1 group by l.store_id, l.id having count(c.id) = l.size`,
      [storeId],
    )
    expect(byKey(lists)).toEqual({
      'Clientes recorrentes': 150,
      'Feira de outubro': 80,
      'Assinantes do popup': 60,
      VIP: 12,
    })
    const [imported] = await rows(
      `select i.processed, i.added, i.invalid, jsonb_array_length(i.errors) as errors from list_imports i
       where i.store_id = $1 and i.kind = 'csv'`,
      [storeId],
    )
    expect(imported).toEqual({ processed: 83, added: 80, invalid: 3, errors: 3 })
    const optOuts = await rows<{ key: string; n: number }>(
      `select source as key, count(*)::int as n from opt_outs where store_id = $1 group by 1`,
      [storeId],
    )
    expect(byKey(optOuts)).toEqual({ reply: 5, manual: 2, provider: 1 })
    const [subscribers] = await rows(
      `select count(*)::int as all, count(coupon_code)::int as coupons,
        count(*) filter (where status = 'unsubscribed')::int as gone,
        bool_and(created_at between $2::timestamptz - interval '91 days' and $2::timestamptz) as recent
       from newsletter_subscribers where store_id = $1`,
      [storeId, now],
    )
    expect(subscribers).toEqual({ all: 180, coupons: 40, gone: 6, recent: true })
  })

  test('the popup is live with five prizes and ninety days of figures; the form has 24 submissions', async () => {
    const [owner] = (await seedDemo(app.services, 'owner')).keys
    // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
    const read = async (path: string): Promise<any> => (await call(app, owner!.key, 'GET', path)).body
    const settings = await read('/newsletter/settings')
    expect(settings.roulette.prizes.map((each: { probability: number }) => each.probability)).toEqual([
      40, 25, 20, 10, 5,
    ])
    const won = settings.roulette.prizes.map((each: { won: number }) => each.won)
    expect([won.reduce((sum: number, each: number) => sum + each, 0), won[2]]).toEqual([40, 0])
    expect((await read('/newsletter/publication-status')).state).toBe('live')
    const metrics = await read('/newsletter/metrics')
    expect(metrics.impressions).toBeGreaterThan(2000)
    expect(metrics.attributed.orders).toBeGreaterThan(0)
    const pushed = await rows<{ n: number }>(
      `select count(*)::int as n from newsletter_subscribers where store_id = $1 and mailprovider_status = 'added'`,
      [storeId],
    )
    expect(pushed).toEqual([{ n: 120 }])
    expect((await read('/contact-form/submissions')).total).toBe(24)
    expect((await read('/contact-form/crm-lists')).data).toContainEqual(
      expect.objectContaining({ name: 'VIP', size: 12, isSelected: true }),
    )
  })

  test('campaigns exist in every state, with counters that match their messages', async () => {
    const campaigns = await rows<{
      status: string
      counters: number[]
      messages: number[]
      conversions: number
    }>(
      `select c.status, array[c.total, c.pending, c.sent, c.delivered, c.read, c.failed, c.skipped, c.cancelled] as counters,
        m.messages, (select count(*)::int from conversions v where v.store_id = c.store_id
          and v.source_type = 'messaging-campaign' and v.source_id = c.id::text) as conversions
       from campaigns c cross join lateral (
        select array[count(*), count(*) filter (where status = 'pending'),
          count(*) filter (where status in ('sent', 'delivered', 'read')),
          count(*) filter (where status in ('delivered', 'read')), count(*) filter (where status = 'read'),
          count(*) filter (where status = 'failed'), count(*) filter (where status = 'skipped'),
          count(*) filter (where status = 'cancelled')]::int[] as messages
        from campaign_messages m where m.store_id = c.store_id and m.campaign_id = c.id) as m
       where c.store_id = $1 order by c.id`,
      [storeId],
    )
    for (const { counters, messages } of campaigns) expect(counters).toEqual(messages)
    expect(campaigns.map((each) => each.status).sort()).toEqual([
      'cancelled',
      'draft',
      'draft',
      'failed',
      'paused',
      'scheduled',
      'sent',
      'sent',
      'sent',
    ])
    const sent = campaigns.filter((each) => each.status === 'sent')
    expect(
      sent.map((each) => [each.counters[0], each.counters[2], each.counters[5], each.counters[6]]),
    ).toEqual([
      [60, 57, 2, 1],
      [80, 76, 3, 1],
      [150, 142, 5, 3],
    ])
    expect(sent.map((each) => each.conversions)).toEqual([6, 8, 10])
    const paused = campaigns.find((each) => each.status === 'paused')!
    expect(paused.counters.slice(0, 3)).toEqual([80, 28, 50])
  })

  test('the ledger matches the rows of the sections, and the usage matches the ledger', async () => {
    const ledger = await rows<{ key: string; n: number }>(
      `select channel || ' ' || source as key, count(*)::int as n from message_ledger where store_id = $1 group by 1`,
      [storeId],
    )
    expect(byKey(ledger)).toEqual({
      'messaging messaging-campaign': 341,
      'messaging automation': 1410,
      'messaging direct': 25,
      'messaging inbox': 270,
      'messaging review-request': 144,
      'email review-request': 96,
      'email newsletter': 40,
      'messaging stock-notification': 8,
      'email stock-notification': 11,
      'email exchange': 74,
    })
    const [cycle] = await rows(
      `select u.message_limit, u.used - (select count(*)::int from message_ledger m where m.store_id = u.store_id
          and m.source in ('inbox', 'automation', 'review-request') and m.channel = 'messaging'
          and m.sent_at >= u.starts_at and m.sent_at < u.ends_at) as used, u.reserved, (select sum(units)::int from usage_reservations r
          where r.store_id = u.store_id and r.cycle_starts_at = u.starts_at) as held
       from usage_cycles u where u.store_id = $1 and u.starts_at <= $2 and u.ends_at > $2`,
      [storeId, now],
    )
    expect(cycle).toEqual({ message_limit: 100_000, used: 67, reserved: 28, held: 28 })
  })

  test('conversions come from the planned touches', async () => {
    const conversions = await rows<{ source_type: string; status: string; placed_at: Date }>(
      `select v.source_type, v.status, v.placed_at from conversions v
       join attribution_touches t on t.store_id = v.store_id and t.id = v.touch_id and t.voided_at is null
       where v.store_id = $1`,
      [storeId],
    )
    const of = (key: 'source_type' | 'status') =>
      Object.fromEntries(
        [...Map.groupBy(conversions, (each) => each[key])].map(([name, all]) => [name, all.length]),
      )
    expect(of('source_type')).toEqual({
      automation: 110,
      'messaging-campaign': 24,
      newsletter: 20,
      'stock-notification': 6,
    })
    expect(of('status')).toEqual({
      confirmed: 141,
      'partially-refunded': 6,
      pending: 4,
      refunded: 3,
      cancelled: 6,
    })
    const since = (ms: number) => conversions.filter((each) => now.getTime() - each.placed_at.getTime() < ms)
    expect(since(dayMs).length).toBeGreaterThanOrEqual(1)
    expect(new Set(since(30 * dayMs).map((each) => each.source_type)).size).toBe(4)
    expect(since(7 * dayMs).length).toBeGreaterThanOrEqual(12)
    expect(await rows(`select 1 from conversions where store_id = $1`, [borealisId])).toHaveLength(3)
  })

  test('fourteen notifications: five unread for Olivia, all for Ada', async () => {
    const levels = await rows<{ key: string; n: number }>(
      `select level as key, count(*)::int as n from notifications where store_id = $1
        and created_at > $2::timestamptz - interval '60 days' group by 1`,
      [storeId, now],
    )
    expect(Object.keys(byKey(levels)).sort()).toEqual(['error', 'info', 'success', 'warning'])
    expect(levels.reduce((sum, each) => sum + each.n, 0)).toBe(14)
    const unread = await rows<{ key: string; n: number }>(
      `select p.name as key, count(*)::int as n from store_people p
       join notifications n on n.store_id = p.store_id and (n.recipient_ids is null or p.user_id = any(n.recipient_ids))
       where p.store_id = $1 and not exists (select from notification_reads r
         where r.store_id = n.store_id and r.notification_id = n.id and r.user_id = p.user_id)
       group by 1`,
      [storeId],
    )
    expect(byKey(unread)).toMatchObject({ 'Olivia Prado': 5, 'Ada Nogueira': 14 })
  })

  test('nothing was sent outside, and no job is queued', async () => {
    expect(await rows(`select id from sandbox_messages union all select id from sandbox_mail`, [])).toEqual(
      [],
    )
    expect(await rows(`select id from pgboss.job`, [])).toEqual([])
  })

  test('the first scheduled jobs find nothing to repair', async () => {
    const before = await rows(`select id, order_id, updated_at from conversions order by order_id`, [])
    await app.drainJobs()
    expect(await rows(`select id, order_id, updated_at from conversions order by order_id`, [])).toEqual(
      before,
    )
  })

  test('everything that Olivia can read answers, with content', async () => {
    const { keys } = await seedDemo(app.services)
    const olivia = keys[0]!.key
    const reads = registry.operations.filter(({ spec }) => spec.method === 'GET' && spec.readOnly)
    const plain = reads.filter((each) => each.parameters.length === 0)
    for (const operation of plain) await expectFilled(app, olivia, operation, operation.spec.path)
    for (const operation of reads.filter((each) => each.parameters.length === 1)) {
      const [parent, rest] = operation.spec.path.split(/\/:[A-Za-z]+/)
      const lists = await Promise.all(
        [`${parent}?limit=100`, `${parent}/list?limit=100`, parent!].map((path) =>
          call(app, olivia, 'GET', path),
        ),
      )
      const rows = (lists.find(({ body }) => body.data)?.body.data ?? []) as Record<string, string>[]
      const ids = rows.map((each) => each[operation.parameters[0]!] ?? each.id)
      await expectFilled(app, olivia, operation, ...ids.map((id) => `${parent}/${id}${rest}`))
    }
  })

  test('the daily sums match the rows', async () => {
    const { keys } = await seedDemo(app.services)
    const read = async (path: string) => (await call(app, keys[0]!.key, 'GET', path)).body
    const paths = ['/dashboard', '/dashboard/overview?period=90d', '/statistics', '/statistics/products']
    const summed = await Promise.all(paths.map(read))
    await app.database.root.updateTable('conversion_zones').set({ built_before: '1970-01-01' }).execute()
    const counted = await Promise.all(paths.map(read))
    await app.database.root.updateTable('conversion_zones').set({ built_before: null }).execute()
    expect(JSON.parse(JSON.stringify(summed, withoutNow))).toEqual(
      JSON.parse(JSON.stringify(counted, withoutNow)),
    )
    expect(summed[2]).toMatchObject({ conversionRate: expect.any(Number) })
  })

  const own = seeded(app, demo)
  for (const sectionTests of [inboxTests, lookTests, mediaTests, promotionTests, reviewTests])
    sectionTests(own)
  // The hour changes which orders the automations get, so these numbers hold only at fixed moments.
  if (at) automationTests(own)

  test('unfinished work can be finished: the paused campaign continues, a sync adds the three', async () => {
    const key = (await seedDemo(app.services)).keys[0]!.key
    const paused = await call(app, key, 'GET', '/campaigns?status=paused')
    const resumed = await call(app, key, 'POST', `/campaigns/${paused.body.data![0]!.id}/resume`)
    expect(resumed.status, JSON.stringify(resumed.body)).toBe(202)
    const lists = await call(app, key, 'GET', '/campaigns/lists?source=ecomplatform')
    const synced = await call(app, key, 'POST', `/campaigns/lists/${lists.body.data![0]!.id}/sync`)
    expect(synced.status, JSON.stringify(synced.body)).toBe(202)
    await app.drainJobs()
    const [campaign] = await rows(
      `select status, total, sent, skipped, pending from campaigns where store_id = $1 and id = $2`,
      [storeId, paused.body.data![0]!.id],
    )
    expect(campaign).toEqual({ status: 'sent', total: 80, sent: 78, skipped: 2, pending: 0 })
    const [cycle] = await rows(
      `select u.used - (select count(*)::int from message_ledger m where m.store_id = u.store_id
          and m.source in ('inbox', 'automation', 'review-request') and m.channel = 'messaging'
          and m.sent_at >= u.starts_at and m.sent_at < u.ends_at) as used, u.reserved
       from usage_cycles u where u.store_id = $1 and u.starts_at <= $2 and u.ends_at > $2`,
      [storeId, now],
    )
    expect(cycle).toEqual({ used: 95, reserved: 0 })
    const [list] = await rows(`select size from contact_lists where store_id = $1 and id = $2`, [
      storeId,
      lists.body.data![0]!.id,
    ])
    expect(list).toEqual({ size: 153 })
  })
})

describe('late on a day of June', async () => {
  const clock = frozenClock('2026-06-10T23:30:00.000Z')
  const app = await testApp({}, { clock })
  const own = seeded(app, await seedDemo(app.services))
  automationTests(own)
  jobTests(own)

  test('a demo does not overwrite a store of another origin', async () => {
    await app.database.query(`delete from server_settings where name = 'demo'`, [])
    await expect(seedDemo(app.services)).rejects.toThrow('The store aurora-supply has the slug or the domain')
    expect(await isDemoMissing(app.services)).toBe(false)
  })
})

test.skipIf(isCluster)('a load fills stores, and fills them again', async () => {
  const app = await testApp()
  const sizes = {
    stores: 2,
    lists: 2,
    contacts: 30,
    campaigns: 4,
    optOuts: 5,
    orders: 10,
    conversions: 20,
    days: 90,
  }
  const rowsOfOne = {
    contact_lists: 4,
    list_contacts: 120,
    opt_outs: 10,
    campaigns: 8,
    orders: 60,
    order_items: 60,
    message_ledger: 40,
    attribution_touches: 40,
    conversions: 40,
    conversion_items: 40,
  }
  const first = await seedLoad(app.services, sizes)
  expect(first).toMatchObject({ stores: 2, rows: rowsOfOne })
  const second = await seedLoad(app.services, sizes)
  expect(second.rows).toEqual(rowsOfOne)
  const [old, fresh] = [first.keys[0]!, second.keys[0]!]
  expect((await call(app, old.key, 'GET', '/campaigns/opt-outs')).status).toBe(401)
  const { body } = await call(app, fresh.key, 'GET', '/campaigns/opt-outs?limit=100')
  expect(body.total).toBe(10)
  await expect(seedLoad(app.services, { store: 'nobody' })).rejects.toThrow('there is no store nobody')
  const one = await seedLoad(app.services, { store: 'load-2', optOuts: 3 })
  expect(one).toMatchObject({ stores: 1, rows: { opt_outs: 3 }, keys: [{ store: 'load-2' }] })
})

test('bulk stores equal a store created by itself', async () => {
  const app = await testApp()
  const now = app.clock.now()
  const place = { country: 'BR', currency: 'BRL', timezone: 'America/Sao_Paulo' }
  const owner = { owner: 'one@example.com', ownerName: 'Owner of One' }
  const one = await createStore(app.database, now, {
    slug: 'one',
    name: 'One',
    plan: 'scale',
    ...owner,
    ...place,
  })
  const [bulk] = await app.database.root.transaction().execute((db) => makeStores(db, now, 1))
  const tables = await app.database.query<{ name: string; column: string }>(
    `select c.table_name as name, c.column_name as "column" from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where t.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.table_name <> 'directory'
       and (c.column_name = 'store_id' or c.table_name = 'stores' and c.column_name = 'id')`,
    [],
  )
  const readRows = async (id: string): Promise<Record<string, unknown>> => {
    const found: Record<string, unknown> = {}
    for (const { name, column } of tables) {
      const rows = await app.database.query<{ row: Record<string, unknown> }>(
        `select to_jsonb(t) as row from ${name} t where ${column} = $1`,
        [id],
      )
      // Columns that differ between stores.
      const own = ['id', 'store_id', 'user_id', 'slug', 'name', 'public_id', 'domain', 'platform_store_id']
      if (rows.length > 0) {
        found[name] = rows.map(({ row }) =>
          Object.fromEntries(
            Object.entries(row).map(([key, value]) => [key, own.includes(key) ? 'own' : value]),
          ),
        )
      }
    }
    return found
  }
  const made = await readRows(one.id)
  expect(Object.keys(made)).toContain('conversion_zones')
  expect(await readRows(bulk!.id)).toEqual(made)
})

interface Body {
  total?: number
  data?: { id: string }[]
}

async function call(
  app: TestApp,
  key: string,
  method: Method,
  path: string,
): Promise<{ status: number; body: Body }> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await app.fetch(new Request(`http://localhost/v1${path}`, { method, headers }), {
    ip: '127.0.0.1',
  })
  return { status: response.status, body: (await response.json()) as Body }
}

/** Ends of current ranges move between two reads. */
const withoutNow = (key: string, value: unknown): unknown =>
  /^(endAt|previousEndAt)$/.test(key) ? null : value

/** One of the addresses answers 200, with a list that is not empty. */
async function expectFilled(
  app: TestApp,
  key: string,
  { id, spec }: LoadedOperation,
  ...paths: string[]
): Promise<void> {
  const query = new URLSearchParams(spec.example?.query as Record<string, string> | undefined)
  const answers: unknown[] = []
  for (const path of paths.flatMap((each) => [each, `${each}?${query}`])) {
    const { status, body } = await call(app, key, 'GET', path)
    const isEmpty = body.data?.length === 0
    if (status === 200 && !isEmpty) return
    answers.push([path, status, body])
  }
  expect.fail(`${id} has nothing to show: ${JSON.stringify(answers).slice(0, 1000)}`)
}

/** All pages of a cursor. */
async function walk<T>(
  page: (cursor: string | null) => Promise<{ rows: T[]; next: string | null }>,
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | null = null
  do {
    const { rows, next } = await page(cursor)
    all.push(...rows)
    cursor = next
  } while (cursor !== null)
  return all
}

const readRows =
  (database: Database) =>
  <Row = Record<string, unknown>>(text: string, parameters: unknown[]): Promise<Row[]> =>
    database.query<Row>(text, parameters)

const byKey = (rows: { key: string; n: number }[]): Record<string, number> =>
  Object.fromEntries(rows.map(({ key, n }) => [key, n]))

/** Row count of each of our tables. */
async function rowCounts(database: Database): Promise<Record<string, number>> {
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    [],
  )
  const counts = tables.map(({ name }) => `select '${name}' as key, count(*)::int as n from ${name}`)
  return byKey(await database.query(counts.join(' union all '), []))
}
