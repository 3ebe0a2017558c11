/** Manual automations of a conversation (rule 7). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import listAvailable from '#operations/inbox/automations/api/list-available'
import trigger from '#operations/inbox/automations/api/trigger'
import listAutomations from '#operations/inbox/conversations/api/list-automations'
import listMessages from '#operations/inbox/messages/api/list-messages'
import disable from '#operations/inbox/switch/api/disable'
import enable from '#operations/inbox/switch/api/enable'
import { newId } from '#runtime/values/ids'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Automation, type AutomationShop, ana, automationShop, never } from '#test/support/automations'
import { type InboxShop, inboxShop, withInbox } from '#test/support/inbox'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'
const day = 24 * 3_600_000

describe('automations of a conversation', () => {
  let shop: AutomationShop & InboxShop
  let id: string
  let text: Automation
  let approved: Automation
  let pending: Automation
  let birthday: Automation
  let cart: Automation
  beforeAll(async () => {
    await app.setClock(noon)
    shop = await withInbox(app, await automationShop(app, { connection: null }))
    const ctx = await shop.context()
    const utility = await makeTemplate(ctx, { name: 'shipped', body: 'Hi {{1}}', category: 'utility' })
    const slow = await makeTemplate(ctx, { name: 'slow', body: 'Hi', status: 'pending' })
    const off = { isActive: true, quietHours: never }
    const templated = (officialapiTemplateId: number, body: string[]) => ({
      message: { text: null, officialapiTemplateId, templateParameters: { body } },
    })
    text = await shop.automation({ ...off, type: 'order-paid', message: { text: 'Thanks {{firstName}}' } })
    approved = await shop.automation({
      ...off,
      type: 'order-shipped',
      ...templated(utility, ['{{firstName}}']),
    })
    pending = await shop.automation({ ...off, type: 'order-delivered', ...templated(slow, []) })
    birthday = await shop.automation({ ...off, type: 'birthday', message: { text: 'Happy birthday' } })
    cart = await shop.automation({ ...off, type: 'abandoned-cart', message: { text: 'Your cart' } })
    await shop.write({ phone: ana.phone, name: 'Ana', text: 'Oi' })
    id = (await shop.conversation()).id
  })
  let tests = 0
  // The first test advances the clock by a day.
  beforeEach(async () => {
    await app.advance(tests === 0 ? 120_000 : day + tests * 600_000)
    tests += 1
  })
  const list = async (conversationId?: string) => {
    const answer = await shop.call(
      listAvailable,
      conversationId === undefined ? {} : { query: { conversationId } },
    )
    expect(answer.status).toBe(200)
    return new Map<string, Automation>(answer.body.data.map((each: Automation) => [each.id, each]))
  }
  const send = (automation: Automation, more: object = {}) =>
    shop.call(trigger, { params: { id }, body: { automationId: automation.id, ...more } })

  test('active automations are listed, with the reason if one cannot be sent', async () => {
    const all = await list()
    expect(all.size).toBe(5)
    expect(all.get(text.id)).toMatchObject({
      requires: 'order',
      preview: 'Thanks {{firstName}}',
      eligible: null,
      ineligibleReason: null,
    })
    expect(all.get(approved.id)).toMatchObject({ preview: 'Hi {{firstName}}' })
    expect([all.get(birthday.id).requires, all.get(cart.id).requires]).toEqual(['none', 'cart'])
    const reasons = async () => {
      const found = await list(id)
      return [text, approved, pending, birthday, cart].map((each) => found.get(each.id).ineligibleReason)
    }
    expect(await reasons()).toEqual(['no-order', 'no-order', 'no-order', null, 'no-cart'])
    expect((await shop.call(listAvailable, { query: { conversationId: shop.id } })).status).toBe(404)
    await shop.sell({ customer: ana })
    await app.advance(day)
    expect(await reasons()).toEqual([
      'window-closed',
      null,
      'template-not-approved',
      'window-closed',
      'no-cart',
    ])
    const ctx = await shop.context()
    await shop.write({ phone: ana.phone, text: 'stop' })
    expect(await reasons()).toEqual(['opted-out', null, 'template-not-approved', 'opted-out', 'no-cart'])
    expect((await send(text)).status).toBe(409)
    await ctx.db.deleteFrom('opt_outs').execute()
    expect(await reasons()).toEqual([null, null, 'template-not-approved', null, 'no-cart'])
  })

  test('an automation is sent once through the official number and shows its sender', async () => {
    const before = await shop.usage()
    const answers = await Promise.all([send(text), send(text)])
    expect(answers.map((each) => each.status).sort()).toEqual([202, 409])
    const { body } = answers.find((each) => each.status === 202)!
    expect(body).toMatchObject({ status: 'queued', executionId: body.messageId })
    expect(await shop.usage()).toEqual({ ...before, reserved: before.reserved + 1 })
    await app.drainJobs()
    const messages = (await shop.call(listMessages, { params: { id } })).body.data
    expect(messages[0]).toMatchObject({
      id: body.messageId,
      source: 'automation',
      direction: 'outbound',
      text: 'Thanks Ana',
      sentBy: { userId: shop.userId, name: 'Olivia Owner' },
    })
    expect(await shop.conversation()).toMatchObject({
      lastMessagePreview: 'Thanks Ana',
      waitingSince: null,
      unreadCount: 2,
    })
    expect((await shop.outbox()).at(-1)).toMatchObject({ phone: ana.phone, via: 'official' })
    const { body: executions } = await shop.call(listAutomations, { params: { id } })
    expect(executions.data).toMatchObject([
      {
        id: body.executionId,
        automationId: text.id,
        automationType: 'order-paid',
        origin: 'manual',
        messageId: body.messageId,
        failureReason: null,
      },
      // Started by the order itself.
      { automationId: text.id, origin: 'event', status: 'read', orderId: expect.any(String) },
    ])
    expect((await send(text)).status).toBe(409)
    await app.advance(60_000)
    expect((await send(text)).status).toBe(202)
    // Not sent yet: it stays pending, however long ago it was requested.
    await app.advance(61_000)
    expect((await send(text)).status).toBe(409)
    await app.drainJobs()
    expect((await send(text)).status).toBe(202)
    await app.drainJobs()
  })

  test('triggering is refused if something is unknown, off or not allowed', async () => {
    const strange = await send({ id: newId(app.clock.ms()) })
    expect([strange.status, strange.body.error.message]).toEqual([
      404,
      expect.stringContaining('automationId'),
    ])
    const other = await send(text, { orderId: 'nope' })
    expect([other.status, other.body.error.message]).toEqual([404, expect.stringContaining('orderId')])
    expect((await send(cart)).status).toBe(409)
    await shop.call(disable, { body: {} })
    expect((await send(birthday)).body.error.message).toContain('off')
    await shop.call(enable, { body: {} })
    await app.drainJobs()
    await shop.request('PUT', `/automations/${birthday.id}`, { body: { isActive: false } })
    expect((await send(birthday)).body.error.message).toContain('not active')
    expect((await list()).has(birthday.id)).toBe(false)
    const ctx = await shop.context()
    await ctx.db.updateTable('usage_cycles').set({ message_limit: 0 }).execute()
    expect((await send(text)).status).toBe(403)
    const stranger = await inboxShop(app)
    await stranger.write({ phone: ana.phone, text: 'Oi' })
    const own = (await stranger.conversation()).id
    const foreign = await stranger.call(trigger, { params: { id: own }, body: { automationId: text.id } })
    expect(foreign.status).toBe(404)
  })

  test('a deleted automation keeps its name in the conversation', async () => {
    expect((await shop.request('DELETE', `/automations/${text.id}`)).status).toBe(204)
    const { body } = await shop.call(listAutomations, { params: { id }, query: { limit: 1 } })
    expect(body).toMatchObject({ total: 4, data: [{ automationName: text.name }] })
  })
})

test('a manual automation shows in the conversation even if another number is selected', async () => {
  await app.setClock(noon)
  const shop = await withInbox(app, await automationShop(app, { connection: null }))
  const { id: automationId } = await shop.automation({
    type: 'birthday',
    quietHours: never,
    message: { text: 'Happy birthday' },
  })
  await shop.write({ phone: ana.phone, name: 'Ana', text: 'Oi' })
  const { id } = await shop.conversation()
  await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400010009' })
  const { body } = await shop.call(trigger, { params: { id }, body: { automationId } })
  await app.drainJobs()
  expect((await shop.outbox()).at(-1)).toMatchObject({ phone: ana.phone, via: 'official' })
  const messages = (await shop.call(listMessages, { params: { id } })).body.data
  expect(messages[0]).toMatchObject({ id: body.messageId, source: 'automation', text: 'Happy birthday' })
})

test('an agent is warned that an order is cancelled or paid already, before and after the message is sent', async () => {
  await app.setClock(noon)
  const shop = await withInbox(app, await automationShop(app, { connection: null }))
  const make = (type: string, text: string) =>
    shop.automation({
      type,
      quietHours: never,
      message: { text },
    })
  const reminder = await make('payment-reminder', 'Pay {{orderNumber}}')
  const cashback = await make('cashback', 'You got {{cashbackAmount}}')
  const birthday = await make('birthday', 'Hi')
  const order = await shop.place({ customer: ana, paymentStatus: 'pending' })
  await shop.deliver(order)
  await app.drainJobs()
  await shop.write({ phone: ana.phone, text: 'Oi', occurredAt: app.clock.now() })
  const { id } = await shop.conversation()
  const warnings = async () => {
    const { body } = await shop.call(listAvailable, { query: { conversationId: id } })
    const of = (wanted: Automation) => body.data.find((each: Automation) => each.id === wanted.id).warning
    return [reminder, cashback, birthday].map(of)
  }
  expect(await warnings()).toEqual([null, null, null])
  await shop.resell(order, { paymentStatus: 'paid' })
  expect(await warnings()).toEqual([`Order ${order.number} is paid already`, null, null])
  const sent = await shop.call(trigger, { params: { id }, body: { automationId: reminder.id } })
  expect(sent).toMatchObject({ status: 202, body: { warning: `Order ${order.number} is paid already` } })
  await shop.resell(order, { status: 'cancelled' })
  const cancelled = `Order ${order.number} was cancelled`
  expect(await warnings()).toEqual([cancelled, cancelled, null])
})
