import { beforeAll, describe, expect, test } from 'vitest'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import { optOuts, sending, templates } from '#operations/messaging/index'
import { countRecipients } from '#operations/messaging/numbers/limit'
import { moveStatus } from '#operations/messaging/templates/transitions'
import { upsertOrders } from '#operations/store/orders/orders'
import type { SectionExtensions } from '#runtime/extensions'
import { makeTemplate } from '#scripts/seed/connect-number'
import { type TestApp, testApp } from '#test/support/app'
import { type AutomationShop, automationShop, never, readOutcomes as states } from '#test/support/automations'
import { setQuota, readUsage as used } from '#test/support/numbers'

/** Orders for which the section reviews has requested a review. */
const asked = new Set<string>()
const extensions: SectionExtensions = {
  reviewedOrders: async (_ctx, ids) =>
    new Map(ids.filter((id) => asked.has(id)).map((id) => [id, 'duplicate-request'] as const)),
}
let app: TestApp
beforeAll(async () => {
  app = await testApp({}, { extensions })
})

const noon = '2026-11-20T15:00:00.000Z'
const hour = 3_600_000
const customer = { name: 'Rui Lima', email: 'rui@example.com', phone: '+5511966665555' }

async function opened(options: Parameters<typeof automationShop>[1] = {}): Promise<AutomationShop> {
  await app.setClock(noon)
  return automationShop(app, options)
}
const tick = async (ms: number): Promise<void> => {
  await app.advance(ms)
  await app.drainJobs()
}
const provider = (shop: AutomationShop, mode: string) =>
  shop.sandbox(`/messaging/${shop.id}/provider`, { mode })

describe('a message is skipped', () => {
  test('as opted-out when due; an approved utility template is sent all the same', async () => {
    const shop = await opened({ connection: 'official' })
    const ctx = await shop.context()
    const make = (name: string, category: string) =>
      makeTemplate(ctx, { name, category, body: 'Oi {{1}}, tudo certo.' })
    const parameters = { header: [], body: ['{{firstName}}'], buttons: [] }
    const ids = { marketing: await make('promo', 'marketing'), utility: await make('shipped', 'utility') }
    const message = (officialapiTemplateId: number) => ({
      officialapiTemplateId,
      templateParameters: parameters,
    })
    const first = await shop.automation({ type: 'order-paid', message: message(ids.marketing) })
    const second = await shop.automation({ type: 'order-created', message: message(ids.utility) })
    await optOuts.add(ctx, customer.phone, 'manual')
    await shop.sell({ customer })
    await tick(2_000)
    expect(await states(shop, first.id)).toEqual(['opted-out'])
    expect(await states(shop, second.id)).toEqual(['sent'])
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
  })

  test('by the cooldown only if it is the first of its run', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'order-paid', conditions: { cooldownHours: 2 } })
    await shop.sell({ customer })
    await tick(hour)
    await shop.sell({ customer })
    await tick(hour)
    expect(await states(shop, automation.id)).toEqual(['sent', 'cooldown'])
    await tick(1_000)
    await shop.sell({ customer })
    await tick(2_000)
    expect((await states(shop, automation.id))[2]).toMatch(/sent|read/)
  })

  test('by the cooldown as the second of two to one phone in one batch', async () => {
    const shop = await opened()
    const automation = await shop.automation({
      type: 'order-created',
      delayMinutes: 5,
      conditions: { cooldownHours: 1 },
    })
    await shop.sell({ customer })
    await shop.sell({ customer })
    await tick(5 * 60_000)
    expect((await states(shop, automation.id)).sort()).toEqual(['cooldown', 'sent'])
  })

  test('as purchased or not-eligible after an order of the contact, a payment or a cancellation', async () => {
    const shop = await opened()
    const reminder = await shop.automation({ type: 'payment-reminder', quietHours: never })
    const plain = await shop.automation({ type: 'order-created', delayMinutes: 60 })
    const order = await shop.sell({ customer, paymentStatus: 'pending' })
    expect(await states(shop, reminder.id)).toEqual(['pending'])
    await shop.resell(order, { paymentStatus: 'paid' })
    expect(await states(shop, reminder.id)).toEqual(['purchased'])
    const other = await shop.sell({ customer: { phone: '+5511944443333' }, paymentStatus: 'pending' })
    await shop.resell(other, { status: 'cancelled' })
    expect(await states(shop, reminder.id)).toEqual(['purchased', 'not-eligible'])
    expect(await states(shop, plain.id)).toEqual(['pending', 'not-eligible'])
    await tick(60_000)
    await shop.sell({ customer: { phone: '+5511933332222' }, paymentStatus: 'pending' })
    await tick(1_000)
    await shop.sell({ customer: { phone: '+5511933332222' } })
    expect((await states(shop, reminder.id))[2]).toBe('purchased')
  })

  test('as automation-inactive if it is turned off when due; run sends all the same', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'order-created', delayMinutes: 10 })
    await shop.sell({ customer })
    await shop.sell({ customer: { phone: '+5511944443333' } })
    await shop.call(updateAutomation, { params: { id: automation.id }, body: { isActive: false } })
    const [first] = await shop.executions(automation.id)
    expect((await shop.request('POST', `/automations/executions/${first!.id}/run`)).status).toBe(202)
    await app.drainJobs()
    await tick(10 * 60_000)
    expect((await states(shop, automation.id)).sort()).toEqual(['automation-inactive', 'sent'])
  })

  test('as duplicate-request if the section reviews has requested it', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'review-request', delayMinutes: 0, quietHours: never })
    const order = await shop.place({ customer })
    asked.add(order.id)
    await shop.resell(order, { fulfillmentStatus: 'delivered' })
    await tick(2_000)
    expect(await states(shop, automation.id)).toEqual(['duplicate-request'])
  })

  test('when the flow ends by its check, or after a failed message', async () => {
    const shop = await opened()
    const flow = (ifPurchased: string | null, ifNot: string | null) => ({
      start: 'w',
      steps: [
        { id: 'w', type: 'wait', minutes: 10, next: 'pc' },
        { id: 'pc', type: 'purchase-check', ifPurchased, ifNot },
        { id: 'm', type: 'message', message: { text: 'Second' }, next: null },
      ],
    })
    const ends = await shop.automation({ type: 'order-created', flow: flow('m', null) })
    const goes = await shop.automation({ type: 'order-paid', flow: flow(null, 'm') })
    await shop.sell({ customer })
    await shop.sell({ customer: { phone: '+5511900000002' } })
    for (let i = 0; i < 6; i += 1) await tick(2_000)
    expect((await states(shop, goes.id)).sort()).toEqual([
      'pending',
      'previous-failed',
      'sent',
      'undelivered',
    ])
    await tick(10 * 60_000)
    expect((await states(shop, ends.id)).sort()).toEqual([
      'flow-ended',
      'previous-failed',
      'sent',
      'undelivered',
    ])
    expect((await shop.outbox()).map(({ content }) => content.text)).toContain('Second')
    const log = await (await shop.context()).db
      .selectFrom('automation_step_log')
      .select(['step_id', 'outcome'])
      .where('automation_id', '=', goes.id)
      .where('outcome', 'is not', null)
      .execute()
    expect(log).toEqual([{ step_id: 'pc', outcome: 'not-purchased' }])
  })
})

describe('a message fails', () => {
  test('with no-text, missing-variable or not-on-network when due; no-phone is skipped at once', async () => {
    const shop = await opened({ connection: 'qr' })
    const id = await makeTemplate(await shop.context(), { name: 'a', body: 'Oi {{1}}, oi.' })
    const only = { text: null, officialapiTemplateId: id, templateParameters: { body: ['x'] } }
    const noText = await shop.automation({ type: 'order-created', message: only })
    const missing = await shop.automation({ type: 'order-paid', message: { text: '{{trackingCode}}' } })
    await shop.sell({ customer: { email: 'nobody@example.com' } })
    expect(await states(shop, missing.id)).toEqual(['no-phone'])
    await shop.sell({ customer })
    await tick(2_000)
    expect(await states(shop, noText.id)).toEqual(['no-phone', 'no-text'])
    expect(await states(shop, missing.id)).toEqual(['no-phone', 'missing-variable'])
    const plain = await shop.automation({ type: 'order-cancelled' })
    const order = await shop.place({ customer: { phone: '+5511900000001' } })
    await shop.resell(order, { status: 'cancelled' })
    await tick(2_000)
    expect(await states(shop, plain.id)).toEqual(['not-on-network'])
    expect(await used(shop)).toEqual({ used: 0, reserved: 0 })
  })

  test('with coupon-failed if the platform refuses the coupon; held while it is down', async () => {
    const shop = await opened()
    const coupon = { type: 'percentage', value: 10, prefix: 'REFUSE' }
    const refused = await shop.automation({ type: 'order-created', coupon })
    const order = await shop.sell({ customer })
    await tick(1_000)
    expect(await shop.executions(refused.id)).toMatchObject([
      { failure_code: 'coupon-failed', failure_reason: expect.stringContaining('REFUSE-') },
    ])
    const held = await shop.automation({ type: 'order-cancelled', coupon: { ...coupon, prefix: 'BACK' } })
    await shop.change(order, { status: 'cancelled' })
    await app.drainJobs()
    await shop.resell(order, { status: 'cancelled' })
    expect(await states(shop, held.id)).toEqual(['sent'])
    const other = await shop.automation({ type: 'order-shipped', coupon: { ...coupon, prefix: 'SHIP' } })
    const second = await shop.place({ customer })
    await shop.resell(second, { fulfillmentStatus: 'unfulfilled' })
    await shop.change(second, { fulfillmentStatus: 'shipped' })
    const ctx = await shop.context()
    const connection = { id: shop.id, credentials: null }
    const platform = (await app.services.adapters.ecommerce.sandbox!.getOrder(connection, second))!
    await shop.sandbox(`/ecommerce/${shop.id}/outage`, { mode: 'down' })
    await ctx.transaction((tx) => upsertOrders(tx, [platform]))
    await app.drainJobs()
    expect(await states(shop, other.id)).toEqual(['provider-unavailable'])
    await shop.sandbox(`/ecommerce/${shop.id}/outage`, { mode: 'up' })
    await tick(15_000)
    await tick(1_500)
    const [sent] = await shop.executions(other.id)
    expect(sent).toMatchObject({
      status: expect.stringMatching(/sent|read|delivered/),
      coupon_code: expect.stringMatching(/^SHIP-/),
    })
  })

  test('at once beyond the quota, with one notification', async () => {
    const shop = await opened()
    await setQuota(shop, 1)
    const automation = await shop.automation({ type: 'order-created', delayMinutes: 5 })
    for (const last of ['1', '2', '3']) await shop.sell({ customer: { phone: `+551196666555${last}` } })
    await tick(5 * 60_000)
    await tick(2_000)
    expect((await states(shop, automation.id)).sort()).toEqual(['quota-exceeded', 'quota-exceeded', 'sent'])
    const notices = await (await shop.context()).db
      .selectFrom('notifications')
      .select('type')
      .where('type', '=', 'automations-quota')
      .execute()
    expect(notices).toHaveLength(1)
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
  })

  test('with subscription-inactive', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'order-created', delayMinutes: 5 })
    await shop.sell({ customer })
    await app.database.root
      .updateTable('subscriptions')
      .set({ status: 'paused', paused_at: new Date(noon) })
      .where('store_id', '=', shop.id)
      .execute()
    await tick(5 * 60_000)
    expect(await states(shop, automation.id)).toEqual(['subscription-inactive'])
  })

  test('with window-closed for a text over the official number to a customer who has not written', async () => {
    const shop = await opened({ connection: 'official' })
    const automation = await shop.automation({ type: 'order-created', message: { text: 'Oi' } })
    await shop.sell({ customer })
    await tick(2_000)
    expect(await states(shop, automation.id)).toEqual(['window-closed'])
    const other = '+5511944443333'
    await shop.sandbox(`/messaging/${shop.id}/inbound`, { phone: other, type: 'text', text: 'Oi' })
    await app.drainJobs()
    await shop.sell({ customer: { phone: other } })
    await tick(2_000)
    expect(await states(shop, automation.id)).toEqual(['window-closed', 'sent'])
  })

  test('with the codes of the network; a customer who stopped there is opted out', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'order-created' })
    await shop.sell({ customer: { phone: '+5511966665551' } })
    await tick(1_000)
    await shop.sell({ customer: { phone: '+5511966665552' } })
    const [first, second] = await shop.outbox()
    const status = (providerMessageId: string, code: string) =>
      shop.sandbox(`/messaging/${shop.id}/status`, { providerMessageId, status: 'failed', code })
    await status(first!.providerMessageId, 'frequency-capped')
    await status(second!.providerMessageId, 'recipient-stopped')
    await app.drainJobs()
    const rows = await shop.executions(automation.id)
    expect(rows.map((row) => row.failure_code)).toEqual(
      expect.arrayContaining([expect.stringMatching(/frequency-capped|null/)]),
    )
    const ctx = await shop.context()
    expect(await optOuts.findOptedOut(ctx, ['+5511966665552'])).toEqual(new Set(['+5511966665552']))
  })
})

describe('a message is held', () => {
  test('while no number is connected, failed after 24 hours', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'order-created' })
    const connection = (status: string) =>
      app.database.root
        .updateTable('messaging_connections')
        .set({ status })
        .where('store_id', '=', shop.id)
        .execute()
    await connection('disconnected')
    await shop.sell({ customer })
    await tick(1_000)
    expect(await states(shop, automation.id)).toEqual(['not-connected'])
    await tick(5 * hour)
    await connection('connected')
    await tick(60_000)
    await tick(1_000)
    expect((await states(shop, automation.id))[0]).toMatch(/sent|read|delivered/)

    await connection('disconnected')
    await shop.sell({ customer: { phone: '+5511944443333' } })
    const held = (await shop.executions(automation.id))[1]!
    expect(held.hold_reason).toBe('not-connected')
    for (const hours of [6, 6, 6, 5.75, 0.25]) await tick(hours * hour)
    const [, failed] = await shop.executions(automation.id)
    expect(failed).toMatchObject({ status: 'failed', failure_code: 'disconnected' })
    const heldFor = failed!.failed_at!.getTime() - held.held_since!.getTime()
    expect(heldFor).toBeGreaterThanOrEqual(24 * hour)
    expect(heldFor).toBeLessThan(24.3 * hour)
  })

  test('while the template is pending, sent on approval; template-refused after 24 hours', async () => {
    const shop = await opened({ connection: 'official' })
    const ctx = await shop.context()
    const id = await makeTemplate(ctx, { name: 'hold', body: 'Oi {{1}}, foi enviado.', status: 'pending' })
    const message = { text: null, officialapiTemplateId: id, templateParameters: { body: ['{{firstName}}'] } }
    const automation = await shop.automation({ type: 'order-created', message })
    await shop.sell({ customer })
    await tick(1_000)
    expect(await states(shop, automation.id)).toEqual(['template-pending'])
    expect((await templates.get(ctx, id))!.status).toBe('pending')
    const row = await ctx.db.selectFrom('message_templates').selectAll().executeTakeFirstOrThrow()
    const approved = { status: 'approved', rejectionReason: null, pausedUntil: null } as const
    await ctx.transaction((tx) => moveStatus(tx, row as never, { ...approved, at: tx.now() }))
    await app.drainJobs()
    expect(await states(shop, automation.id)).toEqual(['sent'])

    await ctx.db.updateTable('message_templates').set({ status: 'pending' }).where('id', '=', id).execute()
    await shop.sell({ customer: { phone: '+5511944443333', name: 'Ana' } })
    for (const hours of [6, 6, 6, 5.75, 0.25, 0.25]) await tick(hours * hour)
    expect((await states(shop, automation.id))[1]).toBe('template-refused')
  })

  test('with exponential backoff from 15 seconds while the provider is down', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'order-created' })
    await provider(shop, 'down')
    await shop.sell({ customer })
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toMatchObject([
      {
        status: 'pending',
        hold_reason: 'provider-unavailable',
        attempts: 1,
        scheduled_at: new Date(app.clock.ms() + 15_000),
        message: null,
      },
    ])
    expect(await used(shop)).toEqual({ used: 0, reserved: 0 })
    await tick(15_000)
    expect((await shop.executions(automation.id))[0]!.scheduled_at).toEqual(new Date(app.clock.ms() + 30_000))
    await provider(shop, 'up')
    await tick(30_000)
    expect(await states(shop, automation.id)).toEqual(['sent'])
  })

  test("at the number's limit, and sent when it is free again", async () => {
    const shop = await opened({ connection: 'official', phone: '+5511400010007' })
    const ctx = await shop.context()
    const id = await makeTemplate(ctx, { name: 'shipped', body: 'Oi {{1}}, foi enviado.' })
    const parameters = { body: ['{{firstName|x}}'] }
    const message = { text: null, officialapiTemplateId: id, templateParameters: parameters }
    const automation = await shop.automation({ type: 'order-created', message })
    const connection = (await sending.findSelected(ctx))!
    const phones = Array.from({ length: 250 }, (_, i) => `+55119700${String(10_005 + i * 10)}`)
    await countRecipients(ctx, connection, phones)
    const filledAt = app.clock.ms()
    await tick(1_000)
    await shop.sell({ customer })
    await tick(1_000)
    expect(await states(shop, automation.id)).toEqual(['number-limit'])
    await app.setClock(new Date(filledAt + 24 * hour - 60_000))
    await app.drainJobs()
    expect(await states(shop, automation.id)).toEqual(['number-limit'])
    await app.setClock(new Date(filledAt + 24 * hour))
    await app.drainJobs()
    expect(await states(shop, automation.id)).toEqual(['sent'])
    expect(app.clock.ms()).toBe(filledAt + 24 * hour)
  })
})
