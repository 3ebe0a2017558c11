import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { unsubscribes } from '#operations/capture/index'
import createPreview from '#operations/capture/popup/api/create-preview'
import getMetrics from '#operations/capture/popup/api/get-metrics'
import getSettings from '#operations/capture/popup/api/get-settings'
import uploadImage from '#operations/capture/popup/api/upload-image'
import exportSubscribers from '#operations/capture/subscribers/api/export-subscribers'
import listSubscribers from '#operations/capture/subscribers/api/list-subscribers'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { testApp } from '#test/support/app'
import { popupShop, readSubscribers, tenPercent, visit } from '#test/support/capture'
import { refused } from '#test/support/refused'
import { setRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
const mailTo = (to: string) => listSandboxMail(app.database.root as never, { to })
const getPath = (shop: Shop, url: string): string => {
  const { pathname, search } = new URL(url)
  return pathname.slice(`/storefront/${shop.publicId}`.length) + search
}

describe('previews', () => {
  test('a preview shows unsaved settings, even if off, for 24 hours; the settings are not saved', async () => {
    const shop = await store(app)
    const made = await shop.call(createPreview, {
      body: {
        settings: { design: { buttonColor: '#4f46e5', customCss: '</style><script>alert(1)</script>' } },
      },
    })
    expect(made.status).toBe(201)
    const { url, hostedUrl } = made.body
    expect(new URL(url).host).toBe((await shop.context()).store.domain)
    const page = await visit(shop, 'GET', getPath(shop, hostedUrl))
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.text).toContain('#4f46e5')
    expect(page.text).not.toContain('<script')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const preview = new URL(url).searchParams.get('popup_preview')!
    const read = async () => (await visit(shop, 'GET', `/newsletter?preview=${preview}`)).body
    const config = await read()
    expect(config).toMatchObject({ enabled: true, settings: { design: { buttonColor: '#4f46e5' } } })
    expect((await shop.call(getSettings)).body.design.buttonColor).toBe('#111827')
    await app.advance(2000)
    const sent = (body: object) =>
      visit(shop, 'POST', '/newsletter/subscribers', {
        body: { token: config.token, consent: true, ...body },
      })
    expect((await sent({ email: 'no' })).status).toBe(400)
    expect((await sent({ email: 'a@example.com' })).body.status).toBe('subscribed')
    expect(await readSubscribers(shop)).toEqual([])
    const forged = `/newsletter/preview?token=${preview.slice(0, -3)}abc`
    expect((await visit(shop, 'GET', forged)).status).toBe(404)
    await app.advance(24 * 3_600_000)
    expect((await visit(shop, 'GET', getPath(shop, hostedUrl))).status).toBe(404)
    expect(await read()).toEqual({ enabled: false })
    await app.drainJobs()
    const kept = await app.database.root.selectFrom('newsletter_previews').select('id').execute()
    expect(kept).toEqual([])
  })

  test('previews are validated like a save; the 20 newest are kept', async () => {
    const shop = await store(app)
    const bad = await shop.call(createPreview, { body: { settings: { coupon: { enabled: true } } } })
    expect(bad).toMatchObject(refused(400, 'coupon.code'))
    const links: string[] = []
    for (let n = 0; n < 22; n += 1) links.push((await shop.call(createPreview)).body.hostedUrl)
    const statuses = []
    for (const link of links) statuses.push((await visit(shop, 'GET', getPath(shop, link))).status)
    expect(statuses).toEqual([404, 404, ...Array.from({ length: 20 }, () => 200)])
  })
})

describe('the unsubscribe page', () => {
  test('opening the page changes nothing, the button and one-click do; forged tokens are 404', async () => {
    const shop = await popupShop(app, {
      coupon: { enabled: true, mode: 'shared', code: 'OLA' },
      couponDelivery: 'both',
    })
    await shop.subscribe({ email: 'leave@example.com' })
    await app.drainJobs()
    const [mail] = await mailTo('leave@example.com')
    const link = getPath(shop, mail!.headers['List-Unsubscribe']!.slice(1, -1))
    const look = await visit(shop, 'GET', link, { accept: 'text/html' })
    expect(look.text).toContain('<form method="post">')
    expect((await readSubscribers(shop))[0]!.status).toBe('subscribed')
    const forged = link.slice(0, -4)
    expect((await visit(shop, 'POST', `${forged}AAAA`)).status).toBe(404)
    const oneClick = await visit(shop, 'POST', link, {
      body: 'List-Unsubscribe=One-Click',
      type: 'application/x-www-form-urlencoded',
    })
    expect(oneClick.status).toBe(200)
    const [left] = await readSubscribers(shop)
    expect(left).toMatchObject({ status: 'unsubscribed', unsubscribed_at: expect.any(Date) })
    await app.advance(1000)
    const again = await visit(shop, 'POST', link, { accept: 'text/html' })
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('Sua inscrição foi cancelada')])
    expect((await readSubscribers(shop))[0]!.unsubscribed_at).toEqual(left!.unsubscribed_at)
  })

  test('unsubscribes from other topics are stored by address', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const link = getPath(shop, unsubscribes.buildLink(ctx, 'reviews', 'Bia@Example.com'))
    expect(await unsubscribes.hasUnsubscribed(ctx, 'bia@example.com', 'reviews')).toBe(false)
    expect((await visit(shop, 'POST', link)).status).toBe(200)
    expect(await unsubscribes.hasUnsubscribed(ctx, ' BIA@example.com', 'reviews')).toBe(true)
    expect(await unsubscribes.hasUnsubscribed(ctx, 'bia@example.com', 'other')).toBe(false)
  })
})

test('subscribers are searched, filtered and exported', async () => {
  await app.setClock('2026-11-21T02:00:00Z')
  const shop = await popupShop(app, {
    fields: { name: { enabled: true }, phone: { enabled: true } },
  })
  await app.setClock('2026-11-21T02:30:00Z')
  await shop.subscribe({ email: 'ana@example.com', name: '=cmd|calc', phone: '+5511966665555' })
  await app.setClock('2026-11-21T03:30:00Z')
  await shop.subscribe({ email: 'b_b@example.com', name: '<img src=x onerror=alert(1)>' })
  await setRows(shop, 'newsletter_subscribers', { status: 'unsubscribed' }, { email: 'b_b@example.com' })
  const emails = async (query: Record<string, string>) =>
    (await shop.call(listSubscribers, { query })).body.data.map((each: { email: string }) => each.email)
  expect(await emails({})).toEqual(['b_b@example.com', 'ana@example.com'])
  expect(await emails({ search: 'B_' })).toEqual(['b_b@example.com'])
  expect(await emails({ search: '6666 5555' })).toEqual(['ana@example.com'])
  expect(await emails({ status: 'unsubscribed' })).toEqual(['b_b@example.com'])
  expect(await emails({ startDate: '2026-11-21' })).toEqual(['b_b@example.com'])
  expect(await emails({ startDate: '2026-11-20', endDate: '2026-11-20' })).toEqual(['ana@example.com'])
  const asked = await shop.call(exportSubscribers, { query: { search: 'ana' } })
  expect(asked.body).toMatchObject({ status: 'queued', email: shop.email })
  await app.drainJobs()
  const [mail] = await mailTo(shop.email)
  const rows: string[][] = parse(Buffer.from(mail!.attachments[0]!.content), { bom: true })
  expect(rows.slice(1).map((row) => row.slice(0, 7))).toEqual([
    ['ana@example.com', '+5511966665555', "'=cmd|calc", 'subscribed', 'popup', 'true', 'true'],
  ])
})

test('metrics cover every day of the store, with a comparison to the days before', async () => {
  await app.setClock('2026-11-20T12:00:00Z')
  const shop = await popupShop(app, {
    roulette: {
      enabled: true,
      prizes: [
        { label: 'Ten', probability: 99.99, coupon: { mode: 'unique' } },
        { label: 'Nothing', probability: 0.01 },
      ],
    },
  })
  // 02:30 UTC is still the day before in São Paulo.
  await app.setClock('2026-11-21T02:30:00Z')
  for (let n = 0; n < 47; n += 1) await shop.subscribe({ email: `m${n}@example.com` })
  const shown = (day: string, impressions: number, visitors: number) =>
    app.database.root
      .insertInto('widget_daily')
      .values({ store_id: shop.id, widget: 'newsletter', day, impressions, visitors })
      .execute()
  await shown('2026-11-20', 1250, 900)
  await shown('2026-11-17', 100, 80)
  await setRows(
    shop,
    'newsletter_subscribers',
    { status: 'unsubscribed', unsubscribed_at: app.clock.now() },
    { email: 'm0@example.com' },
  )
  const read = async (query: Record<string, string>) => shop.call(getMetrics, { query })
  const { status, body } = await read({ startDate: '2026-11-19', endDate: '2026-11-20' })
  expect(status).toBe(200)
  const won = body.prizes.map((each: { won: number }) => each.won)
  expect(won[0] + won[1]).toBe(47)
  expect(body).toMatchObject({
    impressions: 1250,
    visitors: 900,
    subscribers: 47,
    emails: 47,
    phones: 0,
    unsubscribed: 1,
    conversionRate: 3.76,
    couponsIssued: won[0],
    attributed: { orders: 0, revenue: 0, currency: 'BRL' },
    series: [
      { date: '2026-11-19', impressions: 0, subscribers: 0 },
      { date: '2026-11-20', impressions: 1250, subscribers: 47 },
    ],
    previous: { impressions: 100, subscribers: 0, conversionRate: 0 },
  })
  const whole = (await read({})).body
  expect([whole.startDate, whole.endDate, whole.series.length]).toEqual(['2026-10-22', '2026-11-20', 30])
  expect(whole.previous.conversionRate).toBeNull()
  expect((await read({ startDate: '2025-11-20', endDate: '2026-11-20' })).status).toBe(400)
  // An order with a unique code is attributed to the popup.
  const [subscriber] = await readSubscribers(shop)
  await shop.sell({
    customer: { name: null, email: 'someone@example.com', phone: null },
    couponCode: subscriber!.coupon_code!,
  } as never)
  const sold = (await read({ startDate: '2026-11-20', endDate: '2026-11-20' })).body
  expect(sold.attributed.orders).toBe(1)
  expect(sold.attributed.revenue).toBeGreaterThan(0)
})

describe('POST /newsletter/upload-image', () => {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const upload = (shop: Shop, data: string, fileName = 'a.png') =>
    shop.call(uploadImage, { body: { fileName, data } })

  test('a real PNG is served at its address; the same bytes have the same address', async () => {
    const shop = await store(app)
    const first = await upload(shop, pixel)
    expect([first.status, first.body]).toEqual([
      201,
      { url: expect.any(String), fileName: 'a.png', contentType: 'image/png', size: 70, width: 1, height: 1 },
    ])
    const again = await upload(shop, `data:image/jpeg;base64,${pixel}`, '../<b>.jpg')
    expect(again.body).toMatchObject({ url: first.body.url, contentType: 'image/png' })
    const served = await app.fetch(new Request(first.body.url), { ip: '127.0.0.1' })
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
  })

  test('an SVG named .png, a text file, and images with too many pixels or bytes are 400', async () => {
    const shop = await store(app)
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')
    const wide = Buffer.from(pixel, 'base64')
    wide.writeUInt32BE(6001, 16)
    const faults: [string, string][] = [
      [svg, 'data: is no PNG'],
      ['not base64!', 'data: is not base64'],
      [wide.toString('base64'), 'data: must be at most 6000 pixels a side'],
      [Buffer.alloc(5 * 1024 * 1024 + 1).toString('base64'), 'data: must be at most 5 MiB'],
      ['A'.repeat(8_000_000), 'data: must be at most 5 MiB'],
    ]
    for (const [data, message] of faults)
      expect(await upload(shop, data)).toMatchObject(refused(400, message))
  })
})

test('the popup and the form are widgets, and their events count', async () => {
  const shop = await popupShop(app, { coupon: tenPercent })
  const widgets = async () => (await visit(shop, 'GET', '/widgets?page=home')).body
  expect((await widgets()).newsletter ?? (await widgets()).widgets?.newsletter).toBe(true)
  // Only the display rules are in the widgets: the rest and the form's token come when it opens.
  expect(Object.keys((await widgets()).newsletterRules).sort()).toEqual([
    'display',
    'layout',
    'position',
    'teaser',
  ])
  const event = { id: crypto.randomUUID(), type: 'impression', widget: 'newsletter' }
  const sent = await visit(shop, 'POST', '/events', { body: { visitorId: 'a'.repeat(20), events: [event] } })
  expect(sent.status).toBe(204)
  expect((await shop.call(getMetrics)).body).toMatchObject({ impressions: 1, visitors: 1 })
  await shop.save({ isEnabled: false })
  const off = await widgets()
  expect(off.newsletter ?? off.widgets?.newsletter).toBeUndefined()
  expect(off.newsletterRules).toBeUndefined()
})
