/** Numbers of the demo's exchanges and returns. */
import { beforeAll, expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'

const app = await testApp()
let key = ''
let publicId = ''
let storeId = ''

async function rows<T>(text: string): Promise<T[]> {
  return (await app.database.query<T & object>(
    text.replaceAll('$aurora', `'${storeId}'`).replaceAll('$now', `'${app.clock.now().toISOString()}'`),
    [],
  )) as T[]
}
async function read(path: string) {
  const response = await app.fetch(
    new Request(`http://localhost/v1${path}`, { headers: { authorization: `Bearer ${key}` } }),
    { ip: '127.0.0.1' },
  )
  expect(response.status).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  return (await response.json()) as any
}

beforeAll(async () => {
  const demo = await seedDemo(app.services)
  key = demo.keys[0]!.key
  ;({ id: storeId, publicId } = demo.stores.find(({ slug }) => slug === 'aurora-supply')!)
})

test('28 requests in every state, over 90 days', async () => {
  const statuses = await rows<{ status: string; n: number }>(
    `select status, count(*)::int as n from exchange_requests where store_id = $aurora group by status`,
  )
  expect(Object.fromEntries(statuses.map(({ status, n }) => [status, n]))).toEqual({
    requested: 6,
    approved: 4,
    'in-transit': 3,
    received: 2,
    completed: 8,
    rejected: 3,
    cancelled: 1,
    expired: 1,
  })
  const [all] = await rows(
    `select count(*)::int as all, count(distinct order_id)::int as orders,
      count(*) filter (where type = 'exchange')::int as exchanges,
      count(*) filter (where type = 'return')::int as returns,
      count(*) filter (where outside_window)::int as late,
      count(*) filter (where outside_window and status = 'requested')::int as late_waiting,
      count(*) filter (where status = 'approved' and (expires_at at time zone 'America/Sao_Paulo')::date
        = ($now::timestamptz at time zone 'America/Sao_Paulo')::date + 1)::int as tomorrow,
      count(*) filter (where created_at < $now::timestamptz - interval '90 days' or created_at > $now::timestamptz)::int as strange,
      count(*) filter (where photo_count > 0)::int as photographed,
      count(*) filter (where customer_address is null or return_address ->> 'city' <> 'São Paulo')::int as homeless,
      min(number) as first, max(number) as last,
      (select last from exchange_numbers where store_id = $aurora) as given
     from exchange_requests where store_id = $aurora`,
  )
  expect(all).toEqual({
    all: 28,
    orders: 28,
    exchanges: 17,
    returns: 11,
    late: 1,
    late_waiting: 1,
    tomorrow: 1,
    strange: 0,
    photographed: 12,
    homeless: 0,
    first: 'EX-1001',
    last: 'EX-1028',
    given: 1028,
  })
})

test('requests use orders of no other step, within their window, with different variants', async () => {
  const [odd] = await rows(
    `select count(*) filter (where c.id is not null)::int as attributed,
      count(*) filter (where o.payment_status <> 'paid' or o.delivered_at is null
        or o.delivered_at > r.created_at)::int as unfit,
      count(*) filter (where r.outside_window <> (r.created_at > o.delivered_at + interval '31 days'))::int as misplaced,
      count(*) filter (where i.id is null)::int as foreign_items,
      count(*) filter (where r.type = 'exchange' and (e.exchange_for is null
        or e.exchange_for ->> 'variantId' = e.variant_id or e.exchange_for ->> 'productId' <> e.product_id))::int as unwanted,
      count(*) filter (where r.type = 'return' and (e.exchange_for is not null or r.refund_method is null))::int as mixed
     from exchange_requests r join exchange_items e on e.store_id = r.store_id and e.request_id = r.id
     left join orders o on o.store_id = r.store_id and o.id = r.order_id
     left join order_items i on i.store_id = r.store_id and i.order_id = r.order_id and i.id = e.order_item_id
     left join conversions c on c.store_id = r.store_id and c.order_id = r.order_id
     where r.store_id = $aurora`,
  )
  expect(odd).toEqual({
    attributed: 0,
    unfit: 0,
    misplaced: 0,
    foreign_items: 0,
    unwanted: 0,
    mixed: 0,
  })
})

test('74 emails exist, each in a history that leads to the state', async () => {
  const [told] = await rows(
    `select (select count(*)::int from exchange_notices where store_id = $aurora) as notices,
      (select count(*)::int from exchange_notices where store_id = $aurora and channel = 'email' and state = 'sent') as mails,
      (select count(*)::int from message_ledger where store_id = $aurora and source = 'exchange') as ledger,
      (select count(*)::int from exchange_history where store_id = $aurora and event = 'notified') as noted`,
  )
  expect(told).toEqual({ notices: 74, mails: 74, ledger: 74, noted: 74 })
  const list = await read('/product-exchanges/requests?limit=100')
  expect(list.total).toBe(28)
  for (const { id } of list.data) {
    const request = await read(`/product-exchanges/requests/${id}`)
    const moves = request.history.filter((each: { toStatus: string | null }) => each.toStatus !== null)
    let status: string | null = null
    for (const move of moves) {
      expect(move.fromStatus).toBe(status)
      status = move.toStatus
    }
    expect(status).toBe(request.status)
    expect(Date.parse(request.updatedAt)).toBeLessThanOrEqual(app.clock.ms())
    for (const { url } of request.photos) {
      const photo = await app.fetch(new Request(url), { ip: '127.0.0.1' })
      expect([photo.status, photo.headers.get('content-type')]).toEqual([200, 'image/png'])
    }
  }
})

test('settings and the storefront exist, also for the second tenant', async () => {
  expect(await read('/product-exchanges/settings')).toMatchObject({
    isEnabled: true,
    windowDays: 30,
    returnAddress: { city: 'São Paulo' },
    messaging: { isEnabled: false },
    returnMethods: [
      { method: 'customer-ships', isEnabled: true },
      { method: 'in-store', isEnabled: true },
    ],
  })
  expect((await visit({ app, publicId }, '/exchanges/settings')).status).toBe(200)
  const [request] = await rows<{ order_number: string; customer_email: string }>(
    `select order_number, customer_email from exchange_requests where store_id = $aurora and status = 'in-transit' limit 1`,
  )
  const found = await visit({ app, publicId }, '/exchanges/lookup', {
    body: { orderNumber: request!.order_number, contact: request!.customer_email },
  })
  expect(found.body.items.some((item: { availableQuantity: number }) => item.availableQuantity === 0)).toBe(
    true,
  )
  const other = await rows(
    `select r.number, r.status, s.content ->> 'isEnabled' as is_enabled
     from exchange_requests r join exchange_settings s on s.store_id = r.store_id
     where r.store_id = (select id from stores where slug = 'borealis-goods')`,
  )
  expect(other).toEqual([{ number: 'EX-1001', status: 'requested', is_enabled: 'true' }])
})
