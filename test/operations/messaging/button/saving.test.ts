import { describe, expect, test } from 'vitest'
import createButton from '#operations/messaging/button/api/create-button'
import getButton from '#operations/messaging/button/api/get-button'
import updateButton from '#operations/messaging/button/api/update-button'
import { buttonWidget } from '#operations/messaging/button/button'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { sendEvents } from '#test/support/storefront'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const create = (shop: Shop, body: object = {}) => shop.call(createButton, { body })
const read = async (shop: Shop) => (await shop.call(getButton)).body
const update = (shop: Shop, id: string, body: object) =>
  shop.call(updateButton, { params: { messagingButtonId: id }, body })
const revisionOf = async (shop: Shop): Promise<number> =>
  (
    await app.database.root
      .selectFrom('stores')
      .select('storefront_revision')
      .where('id', '=', shop.id)
      .executeTakeFirstOrThrow()
  ).storefront_revision

const hours = (start: string, end: string, day = 'mon') => ({ day, start, end })

describe('the chat button', () => {
  test('has defaults until it is created', async () => {
    const shop = await store(app)
    const before = await read(shop)
    expect(before).toMatchObject({
      id: null,
      isEnabled: false,
      phone: null,
      effectivePhone: null,
      message: 'Hi! I need help with {{pageTitle}}',
      label: null,
      tooltipDelaySeconds: 3,
      position: 'bottom-right',
      offsetX: 20,
      mobileOffsetY: 80,
      size: 56,
      backgroundColor: '#15803d',
      devices: 'all',
      pageMode: 'all',
      pagePatterns: [],
      attendants: [],
      schedule: { isEnabled: false, hours: [], outside: 'hide', outsideMessage: null },
      clicks30d: 0,
      impressions30d: 0,
    })
    const { status, body } = await create(shop)
    expect(status).toBe(201)
    expect(body).toEqual({
      ...before,
      id: body.id,
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
    expect(await revisionOf(shop)).toBe(1)
    expect((await create(shop)).status).toBe(409)
  })

  test('two parallel requests create only one button', async () => {
    const shop = await store(app)
    const answers = await Promise.all([create(shop), create(shop)])
    expect(answers.map((each) => each.status).sort()).toEqual([201, 409])
  })

  test("an enabled button must open a number: its own, an attendant's, or the connected one", async () => {
    const shop = await store(app)
    expect((await create(shop, { isEnabled: true })).status).toBe(409)
    const { body } = await create(shop, { isEnabled: true, phone: '(11) 98888-7777' })
    expect(body).toMatchObject({ phone: '+5511988887777', effectivePhone: '+5511988887777' })
    expect((await update(shop, body.id, { phone: null })).status).toBe(409)
    const attendants = [{ name: 'Ana', phone: '11 98888-6666' }]
    expect((await update(shop, body.id, { phone: null, attendants })).body).toMatchObject({
      effectivePhone: null,
      attendants: [{ name: 'Ana', role: null, phone: '+5511988886666', avatarUrl: null }],
    })
    await connectNumber(await shop.context(), { type: 'qr', phone: '+551140001000' })
    expect((await update(shop, body.id, { attendants: [] })).body).toMatchObject({
      effectivePhone: '+551140001000',
      attendants: [],
    })
  })

  test('a change is merged at every depth; the storefront shows it once the button is on', async () => {
    const shop = await store(app)
    const { body } = await create(shop, {
      schedule: { hours: [hours('09:00', '12:00'), hours('12:00', '18:00')] },
    })
    await app.advance(1_000)
    const changed = await update(shop, body.id, { schedule: { outside: 'show', outsideMessage: 'Até já' } })
    expect(changed.body).toMatchObject({
      schedule: {
        isEnabled: false,
        hours: [hours('09:00', '12:00'), hours('12:00', '18:00')],
        outside: 'show',
        outsideMessage: 'Até já',
      },
    })
    expect(await revisionOf(shop)).toBe(1)
    await update(shop, body.id, { isEnabled: true, phone: '+5511988887777' })
    expect(await revisionOf(shop)).toBe(2)
    await app.advance(1_000)
    const same = await update(shop, body.id, await read(shop))
    expect(same.body).toEqual(await read(shop))
    expect(Date.parse(same.body.updatedAt)).toBe(app.clock.ms() - 1_000)
    expect(await revisionOf(shop)).toBe(2)
    await update(shop, body.id, { isEnabled: false })
    expect(await revisionOf(shop)).toBe(3)
  })

  test.each<[string, object]>([
    ['offsetX', { offsetX: 301 }],
    ['size', { size: 39 }],
    ['size', { size: 97 }],
    ['tooltipDelaySeconds', { tooltipDelaySeconds: 121 }],
    ['label', { label: 'x'.repeat(41) }],
    ['backgroundColor', { backgroundColor: 'green' }],
    ['message', { message: 'x'.repeat(1001) }],
    ['message', { message: '{{customerName}}' }],
    ['phone', { phone: 'abc' }],
    ['pagePatterns', { pagePatterns: Array.from({ length: 51 }, () => '/x') }],
    [
      'attendants',
      { attendants: Array.from({ length: 11 }, () => ({ name: 'A', phone: '+5511988887777' })) },
    ],
    ['attendants.0.phone', { attendants: [{ name: 'A', phone: '1' }] }],
    [
      'attendants.0.avatarUrl',
      { attendants: [{ name: 'A', phone: '+5511988887777', avatarUrl: 'http://a' }] },
    ],
    ['schedule.hours', { schedule: { hours: Array.from({ length: 22 }, () => hours('09:00', '10:00')) } }],
    ['schedule.hours.0.end', { schedule: { hours: [hours('09:00', '09:00')] } }],
    ['schedule.hours.1', { schedule: { hours: [hours('09:00', '12:00'), hours('11:59', '13:00')] } }],
    ['schedule.hours.0.start', { schedule: { hours: [hours('24:00', '25:00')] } }],
  ])('refuses %s out of range', async (field, change) => {
    const shop = await store(app)
    const { status, body } = await create(shop, change)
    expect(status).toBe(400)
    expect(body.error.message).toContain(`${field}: `.replace(/: $/, ':'))
  })

  test('clicks of the last 30 local days are counted', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const add = (widget: string, day: string, clicks: number) =>
      ctx.db
        .insertInto('widget_daily')
        .values({ widget, day, clicks, impressions: clicks * 10 })
        .execute()
    const [now] = app.clock.now().toISOString().split('T')
    await add('messaging-button', now!, 3)
    await add('messaging-button', '2026-10-22', 4)
    await add('messaging-button', '2026-10-21', 50)
    await add('wishlist', now!, 500)
    expect(await read(shop)).toMatchObject({ clicks30d: 7, impressions30d: 70 })
  })

  test('the storefront gets only public fields, and only while the button is on and opens a number', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const shown = async () => (await buttonWidget(ctx))?.value ?? null
    expect(await shown()).toBeNull()
    const { body } = await create(shop, {
      label: 'Fale conosco',
      schedule: { hours: [hours('09:00', '12:00')] },
    })
    expect(await shown()).toBeNull()
    await update(shop, body.id, { isEnabled: true, phone: '+5511988887777' })
    const { isEnabled, effectivePhone, clicks30d, impressions30d, id, createdAt, updatedAt, ...settings } =
      await read(shop)
    expect(isEnabled).toBe(true)
    expect(await shown()).toEqual({
      ...settings,
      // Unchanged default, in the store's language.
      message: 'Olá! Preciso de ajuda com {{pageTitle}}',
      phone: '+5511988887777',
      storeName: ctx.store.name,
      timezone: ctx.store.timezone,
    })
    expect(ctx.extensions.widgets.messagingButton!.feature).toBe('messaging')
    expect(ctx.extensions.events['messaging-button']).toEqual({
      feature: 'messaging',
      types: ['impression', 'click', 'close'],
    })
  })

  test('the storefront sees at once that the button opens another number', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const shown = async () =>
      ((await buttonWidget(ctx))?.value as { phone: string | null } | undefined)?.phone
    await connectNumber(ctx, { type: 'qr', phone: '+551140001000' })
    const { body } = await create(shop, { isEnabled: true })
    expect(await shown()).toBe('+551140001000')
    const before = await revisionOf(shop)
    await shop.request('PATCH', '/store', { body: { messagingConnectionType: null } })
    expect([await revisionOf(shop), await shown()]).toEqual([before + 1, undefined])
    await shop.request('PATCH', '/store', { body: { messagingConnectionType: 'qr' } })
    await app.fetch(
      new Request(`http://localhost/sandbox/api/messaging/${shop.id}/qr`, {
        method: 'POST',
        body: JSON.stringify({ event: 'lost' }),
      }),
      { ip: '127.0.0.1' },
    )
    await app.drainJobs()
    expect([await revisionOf(shop), await shown()]).toEqual([before + 3, undefined])
    await update(shop, body.id, { phone: '+5511988887777' })
    expect(await shown()).toBe('+5511988887777')
    const own = await revisionOf(shop)
    await shop.request('PATCH', '/store', { body: { messagingConnectionType: null } })
    expect(await revisionOf(shop)).toBe(own)
  })
})

describe('on the storefront', () => {
  test('impressions and clicks of shoppers are counted', async () => {
    const shop = await store(app)
    await create(shop, { isEnabled: true, phone: '+5511988887777' })
    await sendEvents(shop, [
      { type: 'impression', widget: 'messaging-button' },
      { type: 'click', widget: 'messaging-button' },
    ])
    await sendEvents(shop, [{ type: 'impression', widget: 'messaging-button', resourceId: 'whatever' }])
    expect(await read(shop)).toMatchObject({ impressions30d: 2, clicks30d: 1 })
  })
})
