import { describe, expect, test } from 'vitest'
import createList from '#operations/campaigns/lists/api/create-list'
import getList from '#operations/campaigns/lists/api/get-list'
import listContacts from '#operations/campaigns/lists/api/list-contacts'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import getSettings from '#operations/capture/popup/api/get-settings'
import listSubscribers from '#operations/capture/subscribers/api/list-subscribers'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { testApp } from '#test/support/app'
import {
  newAddress,
  popupShop,
  readSubscribers,
  readToken,
  setMode,
  tenPercent,
  visit,
} from '#test/support/capture'
import { refused } from '#test/support/refused'
import { readRows, setRows } from '#test/support/rows'
import { store } from '#test/support/store'

const app = await testApp()
const mailTo = (to: string) => listSandboxMail(app.database.root as never, { to })
const readCoupons = (storeId: string) =>
  app.database.root
    .selectFrom('sandbox_objects')
    .select(['id', 'data'])
    .where('store_id', '=', storeId)
    .where('kind', '=', 'coupon')
    .execute()
const plain = { status: 'subscribed', prize: null, coupon: null, couponPending: false }
const allFields = {
  fields: {
    phone: { enabled: true, required: false },
    name: { enabled: true, required: false },
  },
}

describe('POST /newsletter/subscribers', () => {
  test('a popup that was open when its schedule ended subscribes without a coupon', async () => {
    const endsAt = new Date(app.clock.ms() + 3_600_000).toISOString()
    const shop = await popupShop(app, { coupon: tenPercent, display: { endsAt } })
    expect((await shop.subscribe({ email: 'in@example.com' })).body.coupon).not.toBeNull()
    await app.advance(3_600_000)
    const late = await shop.subscribe({ email: 'late@example.com' })
    expect([late.status, late.body]).toEqual([201, plain])
    expect(await readSubscribers(shop)).toHaveLength(2)
  })

  test('a unique code is created immediately, shown, listed and recorded as a touch; a second request draws and shows nothing', async () => {
    const shop = await popupShop(app, { coupon: { ...tenPercent, prefix: 'OI', validDays: 7 } })
    const first = await shop.subscribe({
      email: 'Ana@Example.com',
      pageUrl: 'https://shop.example.com/a',
      device: 'mobile',
    })
    expect([first.status, first.body]).toEqual([
      201,
      {
        ...plain,
        coupon: {
          code: expect.stringMatching(/^OI-[A-HJ-NP-Z2-9]{6}$/),
          ...{ type: 'percentage', value: 10, expiresAt: expect.any(String) },
        },
      },
    ])
    const { code, expiresAt } = first.body.coupon
    expect(await readCoupons(shop.id)).toMatchObject([
      { id: code, data: { usageLimit: 1, endsAt: expiresAt, value: '10.00' } },
    ])
    const again = await shop.subscribe({ email: ' ana@example.COM ' })
    expect([again.status, again.body]).toEqual([200, { ...plain, status: 'already-subscribed' }])
    const { body } = await shop.call(listSubscribers)
    expect(body.data).toMatchObject([
      {
        ...{ email: 'Ana@Example.com', phone: null, name: null, status: 'subscribed', source: 'popup' },
        consent: { email: true, phone: false, text: expect.any(String), at: expect.any(String) },
        ...{ prizeLabel: null, couponCode: code, couponStatus: 'issued', unsubscribedAt: null },
        ...{ pageUrl: 'https://shop.example.com/a', device: 'mobile' },
        ...{ mailproviderStatus: null, mailproviderSyncedAt: null },
      },
    ])
    const touches = await readRows(shop, 'attribution_touches', [
      'source_type',
      'source_id',
      'source_name',
      'channel',
      'email',
      'coupon_code',
    ])
    expect(touches).toEqual([
      {
        ...{ source_type: 'newsletter', source_id: body.data[0].id, source_name: 'Popup' },
        ...{ channel: 'storefront', email: 'ana@example.com', coupon_code: code },
      },
    ])
    await app.advance(10_000)
    await app.drainJobs()
    // Shown on the screen: it is not emailed as well.
    expect(await mailTo('ana@example.com')).toEqual([])
  })

  test('with a slow platform the code is promised, created by the job, and emailed with an unsubscribe link', async () => {
    const shop = await popupShop(app, { coupon: tenPercent })
    await setMode(shop, 'ecommerce', 'down')
    const { status, body } = await shop.subscribe({ email: 'slow@example.com' })
    expect([status, body]).toEqual([
      201,
      {
        ...{ ...plain, couponPending: true },
        coupon: { code: null, type: 'percentage', value: 10, expiresAt: null },
      },
    ])
    expect((await readSubscribers(shop))[0]).toMatchObject({ coupon_status: 'pending' })
    await setMode(shop, 'ecommerce', null)
    await app.advance(10_000)
    await app.drainJobs()
    const [row] = await readSubscribers(shop)
    expect(row).toMatchObject({ coupon_status: 'issued', coupon_email: 'sent' })
    const mails = await mailTo('slow@example.com')
    expect(mails).toHaveLength(1)
    expect(mails[0]!.text).toContain(row!.coupon_code)
    expect(mails[0]!.headers).toMatchObject({ 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' })
    const ledger = await readRows(shop, 'message_ledger', [
      'channel',
      'source',
      'source_id',
      'email',
      'cycle_starts_at',
    ])
    expect(ledger).toEqual([
      {
        ...{ channel: 'email', source: 'newsletter', source_id: row!.id },
        ...{ email: 'slow@example.com', cycle_starts_at: null },
      },
    ])
  })

  test('a platform that hangs delays the answer by three seconds, then the code comes by email', async () => {
    const shop = await popupShop(app, { coupon: tenPercent })
    const adapters = app.services.adapters.ecommerce as Record<string, EcommercePort>
    const hanging = { ...adapters.sandbox!, ensureCoupon: () => new Promise<never>(() => {}) }
    adapters.hanging = hanging
    const useProvider = (provider: string) =>
      app.database.root
        .updateTable('connections')
        .set({ provider })
        .where('store_id', '=', shop.id)
        .where('port', '=', 'ecommerce')
        .execute()
    await useProvider('hanging')
    const { body } = await shop.subscribe({ email: 'hangs@example.com' })
    expect(body).toMatchObject({ couponPending: true, coupon: { code: null } })
    await useProvider('sandbox')
    await app.advance(10_000)
    await app.drainJobs()
    const [row] = await readSubscribers(shop)
    expect((await mailTo('hangs@example.com'))[0]!.text).toContain(row!.coupon_code)
  })

  test('a code refused by the platform fails, and the merchant is notified once', async () => {
    const shop = await popupShop(app, { coupon: { ...tenPercent, prefix: 'REFUSE' } })
    const { body } = await shop.subscribe({ email: 'never@example.com' })
    expect(body.couponPending).toBe(true)
    await app.advance(10_000)
    await app.drainJobs()
    expect((await readSubscribers(shop))[0]).toMatchObject({ coupon_status: 'failed' })
    const notices = await readRows(shop, 'notifications', ['type'], { type: 'newsletter-coupon-failed' })
    expect(notices).toHaveLength(1)
  })

  test('a code delivered by email is not shown, and arrives', async () => {
    const shop = await popupShop(app, {
      coupon: { enabled: true, mode: 'shared', code: 'OLA10' },
      couponDelivery: 'email',
    })
    const { body } = await shop.subscribe({ email: 'mail@example.com' })
    expect(body.coupon).toEqual({ code: null, type: 'percentage', value: 10, expiresAt: null })
    await app.drainJobs()
    expect((await mailTo('mail@example.com'))[0]!.text).toContain('OLA10')
  })

  test('an email delayed until its code has expired is not sent; nor is one to an unsubscribed address', async () => {
    const oneDay = { coupon: { ...tenPercent, validDays: 1 }, couponDelivery: 'email' }
    const opened = () => Promise.all([popupShop(app, oneDay), popupShop(app, oneDay)])
    const leaves = (storeId: string) =>
      app.database.root
        .updateTable('newsletter_subscribers')
        .set({ status: 'unsubscribed' })
        .where('store_id', '=', storeId)
        .execute()
    const [held, left] = await opened()
    for (const [shop, email] of [[held, 'held@example.com'] as const, [left, 'left@example.com'] as const])
      expect((await shop.subscribe({ email })).status).toBe(201)
    await leaves(left.id)
    await app.setClock(new Date(app.clock.ms() + 25 * 3_600_000))
    await app.drainJobs()
    const [just, gone] = await opened()
    for (const [shop, email] of [[just, 'just@example.com'] as const, [gone, 'gone@example.com'] as const])
      expect((await shop.subscribe({ email })).status).toBe(201)
    await leaves(gone.id)
    await app.setClock(new Date(app.clock.ms() + 23 * 3_600_000))
    await app.drainJobs()
    expect(await mailTo('just@example.com')).toHaveLength(1)
    expect((await readSubscribers(just))[0]).toMatchObject({ coupon_email: 'sent' })
    for (const name of ['held', 'left', 'gone']) expect(await mailTo(`${name}@example.com`)).toEqual([])
    expect((await readSubscribers(held))[0]).toMatchObject({
      coupon_status: 'issued',
      coupon_email: 'refused',
    })
    expect((await readSubscribers(gone))[0]).toMatchObject({ coupon_email: 'due' })
  })

  test('once a prize of stock 1 is won, every later subscriber gets the other one, also concurrently', async () => {
    const shop = await popupShop(app, {
      roulette: {
        enabled: true,
        prizes: [
          { label: 'First', probability: 99.99, stock: 1, coupon: { mode: 'unique' } },
          { label: 'Second', probability: 0.01, coupon: null },
        ],
      },
    })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => shop.subscribe({ email: `stock${n}@example.com` })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    const labels = answers.map(({ body }) => body.prize.label)
    expect(labels.filter((label) => label === 'First').length).toBeLessThanOrEqual(1)
    const later = await shop.subscribe({ email: 'later@example.com' })
    expect(later.body.prize.label).toBe('Second')
    expect(later.body.coupon).toBeNull()
    const { prizes } = (await shop.call(getSettings)).body.roulette
    expect(prizes.map((each: { won: number }) => each.won)).toEqual([1, 12])
  })

  test('without a prize left there is no coupon', async () => {
    const shop = await popupShop(app, {
      roulette: {
        enabled: true,
        prizes: [
          { label: 'A', probability: 50, stock: 0, coupon: { mode: 'unique' } },
          { label: 'B', probability: 50, stock: 0, coupon: null },
        ],
      },
    })
    const { status, body } = await shop.subscribe({ email: 'none@example.com' })
    expect([status, body]).toEqual([201, plain])
  })

  test('two concurrent requests with one email make one subscriber with one code', async () => {
    const shop = await popupShop(app, { coupon: tenPercent })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => shop.subscribe({ email: 'twice@example.com' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
    expect(await readSubscribers(shop)).toHaveLength(1)
    expect(await readCoupons(shop.id)).toHaveLength(1)
  })

  test('bots get the same answer and nothing is stored; forged and expired tokens are 400', async () => {
    const shop = await popupShop(app, { coupon: tenPercent })
    const trapped = await shop.subscribe({ email: 'bot@example.com', website: 'https://spam.example' })
    expect([trapped.status, trapped.body]).toEqual([201, plain])
    const { body } = await visit(shop, 'GET', '/newsletter')
    const tooFast = await shop.subscribe({ email: 'bot@example.com', token: body.token })
    expect([tooFast.status, tooFast.body]).toEqual([201, plain])
    expect((await shop.subscribe({ email: 'a@example.com', token: 'forged.token' })).status).toBe(400)
    const other = await popupShop(app)
    expect((await shop.subscribe({ email: 'a@example.com', token: other.token })).status).toBe(400)
    const form = await readToken(shop)
    await app.advance(24 * 3_600_000)
    expect((await shop.subscribe({ email: 'a@example.com', token: form })).status).toBe(400)
    expect(await readSubscribers(shop)).toEqual([])
    expect(await readCoupons(shop.id)).toEqual([])
  })

  test('missing fields and invalid phones are named; consent is required', async () => {
    const shop = await popupShop(app, allFields)
    const faults: [Record<string, unknown>, string][] = [
      [{}, 'email: is required'],
      [{ email: 'nobody' }, 'email: must be an email address'],
      [{ email: 'a@example.com', phone: '123' }, 'phone: is not a phone number'],
      [{ email: 'a@example.com', consent: false }, 'consent: must be ticked'],
      [{ email: 'a@example.com', extra: 1 }, 'extra: is not a known field'],
      [{ email: 'a@example.com', device: 'tv' }, 'device: must be one of'],
    ]
    for (const [fields, message] of faults) {
      expect(await shop.subscribe(fields)).toMatchObject(refused(400, message))
    }
    const large = await shop.subscribe({ email: 'a@example.com', pageUrl: 'x'.repeat(40_000) })
    expect(large.status).toBe(413)
  })

  test('gaps are filled, nothing is replaced, and a phone of another subscriber stays theirs', async () => {
    const shop = await popupShop(app, {
      ...allFields,
      fields: { ...allFields.fields, email: { required: false } },
    })
    await shop.subscribe({ phone: '(11) 98888-7777' })
    await shop.subscribe({ email: 'one@example.com', name: 'One' })
    // Two different subscribers: the one with the email is used, and its phone stays.
    const both = await shop.subscribe({ email: 'one@example.com', phone: '11 8888-7777', name: 'Other' })
    expect(both.status).toBe(200)
    expect((await readSubscribers(shop)).map(({ email, phone, name }) => [email, phone, name])).toEqual([
      [null, '+5511988887777', null],
      ['one@example.com', null, 'One'],
    ])
    await shop.subscribe({ email: 'one@example.com', phone: '+5511977776666' })
    await shop.subscribe({ email: 'one@example.com', phone: '+5511955554444' })
    expect((await readSubscribers(shop))[1]).toMatchObject({ phone: '+5511977776666', consent_phone: true })
  })

  test('an unsubscribed person is resubscribed with consent, without another code', async () => {
    const shop = await popupShop(app, { coupon: tenPercent })
    await shop.subscribe({ email: 'back@example.com' })
    await setRows(shop, 'newsletter_subscribers', {
      status: 'unsubscribed',
      unsubscribed_at: app.clock.now(),
    })
    const { status, body } = await shop.subscribe({ email: 'back@example.com' })
    expect([status, body]).toEqual([201, plain])
    expect(await readSubscribers(shop)).toMatchObject([{ status: 'subscribed', unsubscribed_at: null }])
    expect(await readCoupons(shop.id)).toHaveLength(1)
  })

  test('a contact list gets subscribers with a phone and consent; an opt-out stays one', async () => {
    const shop = await popupShop(app, { ...allFields, consentRequired: false })
    const { id } = (await shop.call(createList, { body: { name: 'From the popup' } })).body
    await shop.save({ contactListId: id })
    await shop.call(addOptOut, { body: { phone: '+5511977770001' } })
    await shop.subscribe({ email: 'p1@example.com', phone: '+5511977770001', name: 'P One' })
    await shop.subscribe({ email: 'p2@example.com', phone: '+5511977770002', consent: false })
    await shop.subscribe({ email: 'p3@example.com' })
    const { body } = await shop.call(listContacts, { params: { id } })
    expect(body.data).toMatchObject([
      {
        phone: '+5511977770001',
        name: 'P One',
        email: 'p1@example.com',
        source: 'newsletter',
        optedOut: true,
      },
    ])
    expect(body.total).toBe(1)
    expect((await shop.call(getList, { params: { id } })).body.size).toBe(1)
  })

  test('an unknown store, a disabled popup and a plan without it report nothing', async () => {
    const on = await popupShop(app)
    const off = await popupShop(app)
    await off.save({ isEnabled: false })
    const lapsed = await popupShop(app)
    await setRows(lapsed, 'subscriptions', { status: 'paused', paused_at: app.clock.now() })
    const never = await store(app)
    const unknown = await visit(on, 'POST', '/newsletter/subscribers', { publicId: 'nobody', body: { a: 1 } })
    expect(unknown.status).toBe(404)
    for (const shop of [off, lapsed, never]) {
      for (const body of [{ token: on.token, consent: true, email: 'a@example.com' }, { a: 1 }, '{']) {
        const answer = await visit(shop, 'POST', '/newsletter/subscribers', { body })
        expect([answer.status, answer.body]).toEqual([404, unknown.body])
      }
      const read = await visit(shop, 'GET', '/newsletter')
      expect([read.status, read.body]).toEqual([200, { enabled: false }])
    }
    expect((await visit(on, 'GET', '/newsletter', { publicId: 'nobody' })).body).toEqual({ enabled: false })
  })

  test('limits: ten captures a minute and twenty accepted an hour per address', async () => {
    const shop = await popupShop(app)
    const ip = newAddress()
    const statuses: number[] = []
    for (let n = 0; n < 11; n += 1) {
      statuses.push((await shop.subscribe({ email: `limit${n}@example.com` }, ip)).status)
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(10)
    const last = await shop.subscribe({ email: 'limit@example.com' }, ip)
    expect(last.status).toBe(429)
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    for (let minute = 0; minute < 2; minute += 1) {
      await app.advance(61_000)
      for (let n = 0; n < 10; n += 1) {
        statuses.push((await shop.subscribe({ email: `limit${minute}-${n}@example.com` }, ip)).status)
      }
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(20)
    expect(await readSubscribers(shop)).toHaveLength(20)
  })
})
