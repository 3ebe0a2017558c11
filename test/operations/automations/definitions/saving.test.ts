import { describe, expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import getAutomation from '#operations/automations/definitions/api/get-automation'
import listAutomations from '#operations/automations/definitions/api/list-automations'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import deleteTemplate from '#operations/messaging/templates/api/delete-template'
import getTemplate from '#operations/messaging/templates/api/get-template'
import activateFeatures from '#operations/store/onboarding/api/activate-features'
import getOnboarding from '#operations/store/onboarding/api/get-onboarding'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const create = (shop: Shop, body: object) => shop.call(createAutomation, { body })
const change = (shop: Shop, id: string, body: object) => shop.call(updateAutomation, { params: { id }, body })
const read = async (shop: Shop, id: string) => (await shop.call(getAutomation, { params: { id } })).body
const made = async (shop: Shop, body: object = { type: 'abandoned-cart' }) => {
  const answer = await create(shop, body)
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const templateOf = async (shop: Shop, fields: { status?: string } = {}): Promise<number> =>
  makeTemplate(await shop.context(), { name: 'cart_reminder', body: 'Hi {{1}}, come back', ...fields })
const filled = (officialapiTemplateId: number) => ({
  officialapiTemplateId,
  templateParameters: { body: ['{{firstName}}'] },
})

describe('POST /automations', () => {
  test('fills in the defaults of the type', async () => {
    const shop = await store(app)
    const { status, body, headers } = await create(shop, { type: 'abandoned-cart' })
    expect(status).toBe(201)
    expect(headers.get('etag')).toBeTruthy()
    expect(body).toEqual({
      id: body.id,
      type: 'abandoned-cart',
      name: 'Carrinho abandonado',
      isActive: false,
      activatedAt: null,
      delayMinutes: 60,
      message: {
        text: expect.stringContaining('{{cartUrl}}'),
        mediaUrl: null,
        mediaType: null,
        officialapiTemplateId: null,
        templateParameters: { header: [], body: [], buttons: [] },
      },
      coupon: null,
      conditions: {
        minAmount: null,
        maxAmount: null,
        productIds: [],
        excludedProductIds: [],
        categoryIds: [],
        paymentMethods: [],
        customers: 'all',
        cooldownHours: 24,
      },
      skipIfPurchased: true,
      quietHours: { isEnabled: true, start: '21:00', end: '08:00' },
      settings: {},
      flow: null,
      flowVersion: null,
      warnings: ['inactive', 'not-connected'],
      stats: {
        sent: 0,
        delivered: 0,
        failed: 0,
        skipped: 0,
        converted: 0,
        revenue: 0,
        currency: 'BRL',
        pending: 0,
      },
      createdBy: { userId: shop.userId, name: 'Olivia Owner' },
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
  })

  test.each([
    ['order-created', 0, 0, false, false, {}],
    ['payment-reminder', 60, 0, true, true, {}],
    ['order-paid', 0, 0, false, false, {}],
    ['order-shipped', 0, 0, false, false, {}],
    ['order-delivered', 0, 0, false, false, {}],
    ['order-cancelled', 0, 0, false, false, {}],
    ['post-purchase', 4320, 24, false, true, {}],
    ['review-request', 10_080, 24, false, true, {}],
    [
      'cashback',
      1440,
      24,
      false,
      true,
      { percent: 10, maxAmount: null, minimumAmount: null, validDays: 30, prefix: 'CASH' },
    ],
    ['win-back', 0, 24, true, true, { inactiveDays: 60, sendAt: '10:00' }],
    ['birthday', 0, 24, false, true, { daysBefore: 0, sendAt: '09:00' }],
  ])('%s has its own defaults', async (type, delay, cooldown, skips, quiet, settings) => {
    const shop = await store(app)
    expect(await made(shop, { type })).toMatchObject({
      delayMinutes: delay,
      conditions: { cooldownHours: cooldown },
      skipIfPurchased: skips,
      quietHours: { isEnabled: quiet },
      settings,
      coupon: null,
    })
  })

  test.each([
    ['pt-BR', 'Aniversário', 'Feliz aniversário'],
    ['es-MX', 'Cumpleaños', 'Feliz cumpleaños'],
    ['en-US', 'Birthday', 'Happy birthday'],
  ])('uses the language of the store: %s', async (locale, name, text) => {
    const shop = await store(app, { locale })
    const body = await made(shop, { type: 'birthday' })
    expect(body.name).toBe(name)
    expect(body.message.text).toContain(text)
  })

  test('numbers a default title that is taken, and refuses a given name that is taken', async () => {
    const shop = await store(app)
    const names = []
    for (let i = 0; i < 3; i += 1) names.push((await made(shop)).name)
    expect(names).toEqual(['Carrinho abandonado', 'Carrinho abandonado 2', 'Carrinho abandonado 3'])
    const taken = await create(shop, { type: 'birthday', name: 'carrinho ABANDONADO 2' })
    expect(taken).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(taken.body.error.message).toContain('name: ')
  })

  test('20 concurrent requests get 20 names; the 51st automation is refused', async () => {
    const shop = await store(app)
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(shop, { type: 'order-paid' })))
    expect(new Set(answers.map(({ body }) => body.name)).size).toBe(20)
    for (let i = 20; i < 49; i += 1) await made(shop, { type: 'order-paid' })
    const last = await Promise.all([
      create(shop, { type: 'order-paid' }),
      create(shop, { type: 'order-paid' }),
    ])
    expect(last.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  const long = (n: number): string => 'x'.repeat(n)
  const media = { mediaUrl: 'https://a.example/x.png', mediaType: 'image' }
  const ids = (n: number) => Array.from({ length: n }, (_, i) => `p${i}`)
  const coupon = (fields: object) => ({ coupon: { type: 'free-shipping', ...fields } })

  test.each<object>([
    { name: long(120) },
    { delayMinutes: 15 },
    { type: 'payment-reminder', delayMinutes: 5 },
    { delayMinutes: 129_600 },
    { message: { text: long(4096) } },
    { message: { text: long(1024), ...media } },
    { message: { templateParameters: { body: [long(500)] } } },
    { coupon: { type: 'percentage', value: 100 } },
    { coupon: { type: 'amount', value: 0.01 } },
    coupon({}),
    coupon({ validDays: 365 }),
    coupon({ prefix: 'ABCDEFGH12' }),
    { conditions: { cooldownHours: 8760 } },
    { type: 'order-paid', conditions: { paymentMethods: ['pix'] } },
    { type: 'birthday', conditions: { customers: 'all', productIds: [] } },
    { quietHours: { start: '08:00', end: '21:00' } },
    { type: 'win-back', settings: { inactiveDays: 7 } },
    { type: 'win-back', settings: { inactiveDays: 730 } },
    { type: 'birthday', settings: { daysBefore: 30, sendAt: '00:00' } },
    { type: 'cashback', settings: { percent: 100, maxAmount: 15 } },
    { message: { text: '{{couponCode}} {{couponValue}} {{couponExpiresAt}}' }, ...coupon({}) },
    { type: 'cashback', message: { text: '{{couponCode}} {{cashbackAmount}}' } },
    { type: 'win-back', message: { text: '{{daysSinceOrder}} {{orderNumber}}' } },
    { message: { text: '{{firstName|friend}} {{name}} {{customerName}}' } },
  ])('an automation may be at its limits: case %#', async (body) => {
    await made(await store(app), { type: 'abandoned-cart', ...body })
  })

  test.each<[string, object]>([
    ['name: must have at most 120 characters', { name: long(121) }],
    ['name: must not be empty', { name: ' ' }],
    ['delayMinutes: must be at least 15 for abandoned-cart', { delayMinutes: 14 }],
    ['delayMinutes: must be at least 5', { type: 'payment-reminder', delayMinutes: 4 }],
    ['delayMinutes: must be at most 129600', { delayMinutes: 129_601 }],
    ['delayMinutes: must be at least 0', { type: 'birthday', delayMinutes: -1 }],
    ['message.text: must have at most 4096 characters', { message: { text: long(4097) } }],
    ['message.text: must have at most 1024', { message: { text: long(1025), ...media } }],
    ['message: needs a text or a template', { message: { text: '' } }],
    ['message: needs a text or a template', { message: { text: null } }],
    ['message.mediaType: is required', { message: { mediaUrl: media.mediaUrl } }],
    ['message.mediaType: must be null', { message: { mediaType: 'image' } }],
    ['message.mediaUrl: must be', { message: { ...media, mediaUrl: 'http://a.example/x' } }],
    [
      'message.templateParameters.body.0: must have at most 500',
      { message: { templateParameters: { body: [long(501)] } } },
    ],
    ['coupon.value: must be at most 100', { coupon: { type: 'percentage', value: 100.01 } }],
    ['coupon.value: must be more than 0', { coupon: { type: 'amount', value: 0 } }],
    ['coupon.value: must have at most two', { coupon: { type: 'amount', value: 0.005 } }],
    ['coupon.value: is required for amount', { coupon: { type: 'amount' } }],
    ['coupon.type: is required', { coupon: { value: 10 } }],
    ['coupon.value: must be null', coupon({ value: 5 })],
    ['coupon.validDays: must be at most 365', coupon({ validDays: 366 })],
    ['coupon.validDays: must be at least 1', coupon({ validDays: 0 })],
    ['coupon.prefix: must be 1 to 10', coupon({ prefix: 'ABCDEFGH123' })],
    ['coupon.prefix: must be 1 to 10', coupon({ prefix: 'back' })],
    ['coupon: must be null', { type: 'cashback', ...coupon({}) }],
    ['conditions.productIds: must have at most 200', { conditions: { productIds: ids(201) } }],
    ['conditions.excludedProductIds: must', { conditions: { excludedProductIds: ids(201) } }],
    ['conditions.categoryIds: must have at most', { conditions: { categoryIds: ids(201) } }],
    ['conditions.minAmount: must not be negative', { conditions: { minAmount: -1 } }],
    ['conditions.maxAmount: must not be less', { conditions: { minAmount: 2, maxAmount: 1 } }],
    ['conditions.cooldownHours: must be at most', { conditions: { cooldownHours: 8761 } }],
    ['conditions.customers: must be one of', { conditions: { customers: 'vip' } }],
    ['conditions.paymentMethods: an', { conditions: { paymentMethods: ['pix'] } }],
    ['paymentMethods.0: must be', { type: 'order-paid', conditions: { paymentMethods: ['gold'] } }],
    ['conditions.minAmount: an', { type: 'birthday', conditions: { minAmount: 1 } }],
    ['conditions.customers: an', { type: 'win-back', conditions: { customers: 'returning' } }],
    ['quietHours.end: must not be the same', { quietHours: { start: '08:00' } }],
    ['quietHours.start: must be a time', { quietHours: { start: '24:00' } }],
    ['settings.inactiveDays: an automation of type', { settings: { inactiveDays: 60 } }],
    ['settings.inactiveDays: must be at least 7', { type: 'win-back', settings: { inactiveDays: 6 } }],
    ['settings.inactiveDays: must be at most', { type: 'win-back', settings: { inactiveDays: 731 } }],
    ['settings.daysBefore: must be at most 30', { type: 'birthday', settings: { daysBefore: 31 } }],
    ['settings.percent: must be more than 0', { type: 'cashback', settings: { percent: 0 } }],
    ['settings.percent: must be at most 100', { type: 'cashback', settings: { percent: 100.5 } }],
    ['type: must be one of', { type: 'sms' }],
    ['message.text: has the variable {{trackingCode}}', { message: { text: '{{trackingCode}}' } }],
    ['body.0: has the', { message: { templateParameters: { body: ['{{orderUrl}}'] } } }],
    ['but no coupon is made before it', { message: { text: '{{couponCode}}' } }],
    ['order-paid does not', { type: 'order-paid', message: { text: '{{cashbackAmount}}' } }],
    ['message.text: has a "{{" without its "}}"', { message: { text: 'Hi {{name' } }],
  ])('an automation is refused: %s', async (message, body) => {
    const answer = await create(await store(app), { type: 'abandoned-cart', ...body })
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(message)])
  })
})

describe('PUT /automations/:id', () => {
  test('keeps omitted fields, at every depth, and replaces lists', async () => {
    const shop = await connectedStore(app)
    const { id } = await made(shop, {
      type: 'order-paid',
      message: { text: 'Paid', templateParameters: { header: ['h'], body: ['a', 'b'] } },
      conditions: { productIds: ['1001', '1002'], minAmount: 10 },
      coupon: { type: 'percentage', value: 10, prefix: 'ABC' },
    })
    await app.setClock('2026-11-20T12:05:00.000Z')
    const { status, body } = await change(shop, id, {
      isActive: true,
      message: { templateParameters: { body: ['c'] } },
      conditions: { productIds: ['1002'] },
      coupon: { value: 5 },
      quietHours: { start: '22:00' },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      isActive: true,
      activatedAt: '2026-11-20T12:05:00.000Z',
      message: { text: 'Paid', templateParameters: { header: ['h'], body: ['c'], buttons: [] } },
      conditions: { productIds: ['1002'], minAmount: 10 },
      coupon: { type: 'percentage', value: 5, prefix: 'ABC', minimumAmount: null, validDays: 7 },
      quietHours: { isEnabled: false, start: '22:00', end: '08:00' },
      updatedAt: '2026-11-20T12:05:00.000Z',
    })
    await app.setClock('2026-11-20T12:06:00.000Z')
    expect((await change(shop, id, { delayMinutes: 10 })).body.activatedAt).toBe('2026-11-20T12:05:00.000Z')
    expect((await change(shop, id, { isActive: false })).body.activatedAt).toBe(null)
    expect((await change(shop, id, { coupon: { type: 'free-shipping' } })).body.coupon).toMatchObject({
      type: 'free-shipping',
      value: null,
      prefix: 'ABC',
    })
    expect((await change(shop, id, { coupon: null })).body.coupon).toBe(null)
  })

  test('removing media removes its type', async () => {
    const shop = await store(app)
    const { id } = await made(shop, {
      type: 'order-paid',
      message: { mediaUrl: 'https://a.example/x.png', mediaType: 'image' },
    })
    expect((await change(shop, id, { message: { mediaUrl: null } })).body.message.mediaType).toBe(null)
  })

  test('sending back the answer of a read changes nothing', async () => {
    const shop = await store(app)
    const { id } = await made(shop, { type: 'cashback', isActive: true })
    const before = await shop.call(getAutomation, { params: { id } })
    await app.setClock('2026-11-20T13:00:00.000Z')
    const { status, body } = await change(shop, id, before.body)
    expect(status).toBe(200)
    expect(body).toEqual(before.body)
  })

  test('the type is fixed, and names are unique', async () => {
    const shop = await store(app)
    const { id } = await made(shop, { type: 'order-paid', name: 'One' })
    await made(shop, { type: 'order-paid', name: 'Two' })
    const retyped = await change(shop, id, { type: 'order-shipped' })
    expect(retyped.status).toBe(400)
    expect(retyped.body.error.message).toContain('type: cannot be changed')
    expect((await change(shop, id, { type: 'order-paid' })).status).toBe(200)
    expect((await change(shop, id, { name: 'TWO' })).status).toBe(409)
    expect((await change(shop, id, { name: 'ONE' })).body.name).toBe('ONE')
  })
})

describe('warnings', () => {
  test('say why it would not send now', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const { id } = await made(shop, { type: 'order-paid', isActive: true })
    const warned = async () => (await read(shop, id)).warnings
    expect(await warned()).toEqual(['not-connected'])
    await connectNumber(ctx, { type: 'qr', phone: '+5511400010001' })
    expect(await warned()).toEqual([])
    const template = await templateOf(shop, { status: 'pending' })
    await change(shop, id, { message: { text: null, ...filled(template) } })
    expect(await warned()).toEqual(['text-missing'])
    await connectNumber(ctx, { type: 'official', phone: '+551140001000' })
    expect(await warned()).toEqual(['template-not-approved'])
    await ctx.db.updateTable('message_templates').set({ status: 'approved' }).execute()
    expect(await warned()).toEqual([])
    const flow = {
      start: 'w',
      steps: [
        { id: 'w', type: 'wait', minutes: 5, next: 'm' },
        { id: 'm', type: 'message', message: { text: 'Again' } },
      ],
    }
    await change(shop, id, { flow })
    expect(await warned()).toEqual(['template-missing'])
    await change(shop, id, { flow: null, isActive: false })
    await ctx.db.deleteFrom('message_templates').execute()
    expect(await warned()).toEqual(['inactive', 'template-missing'])
  })

  test('a template is in use while an active automation refers to it, also in its flow', async () => {
    const shop = await store(app)
    await connectNumber(await shop.context(), { type: 'official', phone: '+551140001000' })
    const template = await templateOf(shop)
    const params = { id: String(template) }
    const flow = {
      start: 'w',
      steps: [
        { id: 'w', type: 'wait', minutes: 5, next: 'm' },
        { id: 'm', type: 'message', message: filled(template) },
      ],
    }
    const { id } = await made(shop, { type: 'order-paid', name: 'Paid', flow })
    expect((await shop.call(getTemplate, { params })).body.inUse).toBe(false)
    await change(shop, id, { isActive: true })
    expect((await shop.call(getTemplate, { params })).body.inUse).toBe(true)
    const refused = await shop.call(deleteTemplate, { params })
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toContain('the automation Paid')
  })
})

describe('GET /automations', () => {
  test('lists newest first, by type, state and name', async () => {
    const shop = await store(app)
    const cart = await made(shop, { type: 'abandoned-cart', name: 'Cart one' })
    const paid = await made(shop, { type: 'order-paid', name: 'Paid' })
    const other = await made(shop, { type: 'abandoned-cart', name: 'CART two', isActive: true })
    const list = async (query: Record<string, string>) => {
      const { body } = await shop.call(listAutomations, { query })
      return { ids: body.data.map((each: { id: string }) => each.id), total: body.total }
    }
    expect(await list({})).toEqual({ ids: [other.id, paid.id, cart.id], total: 3 })
    expect(await list({ type: 'abandoned-cart,birthday' })).toEqual({ ids: [other.id, cart.id], total: 2 })
    expect(await list({ isActive: 'true' })).toEqual({ ids: [other.id], total: 1 })
    expect(await list({ search: 'cart' })).toEqual({ ids: [other.id, cart.id], total: 2 })
    expect(await list({ limit: '1', page: '2' })).toEqual({ ids: [paid.id], total: 3 })
  })
})

describe('onboarding', () => {
  test('an active automation completes the step; the feature creates a first, inactive one', async () => {
    const shop = await store(app)
    const step = async () =>
      (await shop.call(getOnboarding)).body.steps.find((each: { id: string }) => each.id === 'automation')
    expect(await step()).toMatchObject({ isDone: false, doneAt: null })
    const activate = () => shop.call(activateFeatures, { body: { features: ['automations'] } })
    expect((await activate()).status).toBe(200)
    expect((await activate()).status).toBe(200)
    const { body } = await shop.call(listAutomations)
    expect(body.data).toMatchObject([{ type: 'abandoned-cart', isActive: false }])
    expect(await step()).toMatchObject({ isDone: false })
    await change(shop, body.data[0].id, { isActive: true })
    expect(await step()).toMatchObject({ isDone: true, doneAt: '2026-11-20T12:00:00.000Z' })
  })
})
