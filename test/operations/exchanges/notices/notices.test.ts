/** Notices to shoppers (exchanges, rule 5): by email and by message, once. */
import { describe, expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import saveSettings from '#operations/exchanges/settings/api/save-settings'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import deleteTemplate from '#operations/messaging/templates/api/delete-template'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { ana, type ExchangeShop, exchangeShop } from '#test/operations/exchanges/shopper'
import {
  approve,
  confirm,
  read,
  reject,
  remove,
  requested,
  requestedBy,
} from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { connectOfficial, withInbox } from '#test/support/inbox'
import { refused } from '#test/support/refused'
import { readRows, setRows } from '#test/support/rows'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = getSandbox(app.services.adapters.messaging)
const textsTo = async (shop: ExchangeShop): Promise<string[]> =>
  (await sandbox.outbox(shop.id)).map(({ content }) => JSON.stringify(content))
const silent = Object.fromEntries(
  ['requested', 'approved', 'addressChanged', 'received', 'completed', 'rejected', 'expired'].map((event) => [
    event,
    { isEnabled: false },
  ]),
)
const byMessage = (messaging: object) => ({ emails: silent, messaging: { isEnabled: true, ...messaging } })

/** The notice entries of the history with their notes; simultaneous ones may be in any order. */
async function listNotified(shop: ExchangeShop, id: string): Promise<string[]> {
  const { body } = await read(shop, id)
  return body.history
    .filter(({ event }: { event: string }) => event.startsWith('notif'))
    .map(({ event, note }: { event: string; note: string }) => `${event} ${note}`)
    .sort()
}
const usage = (shop: ExchangeShop) =>
  app.database.root
    .selectFrom('usage_cycles')
    .select(['used', 'reserved'])
    .where('store_id', '=', shop.id)
    .executeTakeFirstOrThrow()
const ledger = (shop: ExchangeShop) =>
  app.database.root
    .selectFrom('message_ledger')
    .select(['channel', 'source', 'status'])
    .where('store_id', '=', shop.id)
    .orderBy('sent_at')
    .orderBy('message_id')
    .execute()

async function noticesLeft(shop: ExchangeShop): Promise<number> {
  const rows = await readRows(shop, 'exchange_notices', ['id'])
  return rows.length
}

describe('by email', () => {
  test('every variable has its value, as text', async () => {
    const all = [
      ...['customerName', 'firstName', 'requestNumber', 'orderNumber', 'storeName', 'items', 'statusUrl'],
      ...['returnAddress', 'returnCode', 'labelUrl', 'deadline', 'rejectionReason', 'refundAmount'],
    ]
    const body = all.map((name) => `${name}={{${name}|none}}`).join('\n')
    const shop = await exchangeShop(
      app,
      { emails: { requested: { body }, approved: { body }, completed: { body }, rejected: { body } } },
      { locale: 'pt-BR' },
    )
    const customer = { ...ana, name: 'Ana <b>Souza</b>', email: 'all.variables@example.com' }
    const { id, number, order } = await requestedBy(shop, customer, { items: [{ quantity: 2 }] })
    await approve(shop, id, { returnCode: 'RMA-9', labelUrl: 'https://labels.example.com/9?a=1&b=2' })
    await app.drainJobs()
    const [mail] = await shop.mails(customer.email)
    const shown = Object.fromEntries(
      mail!.text
        .trim()
        .split('\n')
        .map((row) => [row.slice(0, row.indexOf('=')), row.slice(row.indexOf('=') + 1)]),
    )
    expect(shown).toEqual({
      customerName: 'Ana <b>Souza</b>',
      firstName: 'Ana',
      requestNumber: number,
      orderNumber: order.number,
      storeName: (await shop.context()).store.name,
      items: expect.stringMatching(/^2 × Caneca/),
      statusUrl: expect.stringMatching(/\/exchanges\/requests\/[\w-]{32}$/),
      returnAddress: 'Loja Aurora, trocas - Rua das Flores, 100 - 01000-000 São Paulo SP BR',
      returnCode: 'RMA-9',
      labelUrl: 'https://labels.example.com/9?a=1&b=2',
      deadline: '18 de dezembro de 2026',
      rejectionReason: 'none',
      refundAmount: 'none',
    })
    expect(mail!.html).toContain('Ana &#60;b&#62;Souza&#60;/b&#62;')
    expect(mail!.html).toContain('<a href="https://labels.example.com/9?a=1&#38;b=2">')
    expect((await shop.follow(shown.statusUrl!)).body.number).toBe(number)
    await confirm(shop, id)
    await app.drainJobs()
    const [done] = await shop.mails(customer.email)
    expect(done!.text).toMatch(/refundAmount=R\$.240,00/)
    expect(await listNotified(shop, id)).toEqual(
      ['approved', 'completed', 'requested'].map((event) => `notified Email: ${event}`),
    )
    expect(await ledger(shop)).toEqual(
      Array.from({ length: 3 }, () => ({ channel: 'email', source: 'exchange', status: 'sent' })),
    )
  })

  test('only enabled events send a notice, and none after a deletion', async () => {
    const shop = await exchangeShop(app, { emails: { requested: { isEnabled: false } } })
    const customer = { ...ana, email: 'told.nothing@example.com' }
    const { id } = await requestedBy(shop, customer)
    await reject(shop, id, { reason: 'Worn' })
    expect((await remove(shop, id)).status).toBe(204)
    await app.drainJobs()
    expect(await shop.mails(customer.email)).toEqual([])
    expect(await noticesLeft(shop)).toBe(0)
  })
})

test('a notice whose job was lost is requeued', async () => {
  const shop = await exchangeShop(app)
  const customer = { ...ana, email: 'lost.job@example.com' }
  const order = await shop.delivered({ customer })
  const { sessionToken } = (await shop.lookup(order, customer.email)).body
  await shop.ask(order, { sessionToken })
  await app.database.query(`delete from pgboss.job where data->>'job' = 'exchange-notify'`, [])
  await app.drainJobs()
  expect(await shop.mails(customer.email)).toEqual([])
  await app.advance(16 * 60_000)
  await app.drainJobs()
  expect(await shop.mails(customer.email)).toHaveLength(1)
})

describe('by message', () => {
  test('the text is sent by a number of the store for one unit each; failures are noted and release their unit', async () => {
    const shop = await exchangeShop(
      app,
      byMessage({ approved: { text: 'Oi {{firstName}}, {{requestNumber}} foi aprovada: {{statusUrl}}' } }),
    )
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400020001' })
    const { id, number } = await requested(shop)
    await approve(shop, id)
    await app.drainJobs()
    const [text, ...more] = await textsTo(shop)
    expect(more).toEqual([])
    expect(text).toMatch(new RegExp(`Oi Ana, ${number} foi aprovada: http.*/exchanges/requests/`))
    expect(await listNotified(shop, id)).toEqual(['notified Message: approved'])
    expect(await usage(shop)).toEqual({ used: 1, reserved: 0 })
    expect(await ledger(shop)).toMatchObject([{ channel: 'messaging', source: 'exchange' }])

    const nobody = { ...ana, phone: '+5511988880001' }
    const order = await shop.delivered({ customer: nobody })
    const unknown = await requested(shop, { order })
    await approve(shop, unknown.id)
    await app.drainJobs()
    expect(await listNotified(shop, unknown.id)).toEqual([
      'notification-failed Message: approved (not-on-network)',
    ])
    expect((await read(shop, unknown.id)).body.status).toBe('approved')
    expect(await usage(shop)).toEqual({ used: 1, reserved: 0 })

    const lost = await requested(shop, {
      order: await shop.delivered({ customer: { ...ana, phone: '+5511988880002' } }),
    })
    await approve(shop, lost.id)
    for (let n = 0; n < 5; n += 1) {
      await app.advance(5_000)
      await app.drainJobs()
    }
    expect(await listNotified(shop, lost.id)).toEqual([
      'notification-failed Message: approved (undelivered)',
      'notified Message: approved',
    ])
  })

  test('no message is sent beyond the quota or after an opt-out; transition and emails are unaffected', async () => {
    const shop = await exchangeShop(app, { messaging: { isEnabled: true, approved: { text: 'Oi' } } })
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400020002' })
    const customer = { ...ana, email: 'opted.out@example.com', phone: '+5511988880077' }
    await shop.call(addOptOut, { body: { phone: customer.phone } })
    const first = await requestedBy(shop, customer)
    await approve(shop, first.id)
    await app.drainJobs()
    expect(await listNotified(shop, first.id)).toEqual([
      'notification-failed Message: approved (recipient-stopped)',
      'notified Email: approved',
      'notified Email: requested',
    ])
    expect(await usage(shop)).toEqual({ used: 0, reserved: 0 })
    await setRows(shop, 'usage_cycles', { used: 100_000 })
    const second = await requested(shop)
    const { status, body } = await approve(shop, second.id)
    expect([status, body.status]).toEqual([200, 'approved'])
    await app.drainJobs()
    expect(await listNotified(shop, second.id)).toContain(
      'notification-failed Message: approved (quota-exceeded)',
    )
    expect(await textsTo(shop)).toEqual([])
  })

  test('the official number sends the template with name, number and link, or the text in an open window', async () => {
    const shop = await withInbox(app, await exchangeShop(app, { emails: silent }))
    const template = await makeTemplate(await shop.context(), {
      name: 'return_approved',
      body: 'Hi {{1}}, your return {{2}} was approved: {{3}} Bye.',
      category: 'utility',
    })
    await shop.settings(
      byMessage({
        approved: { text: 'By text', officialapiTemplateId: template },
        completed: { text: 'All is done, {{firstName}}' },
      }),
    )
    const { id, number } = await requested(shop)
    await approve(shop, id)
    await confirm(shop, id)
    await app.drainJobs()
    expect(await listNotified(shop, id)).toEqual([
      'notification-failed Message: completed (window-closed)',
      'notified Message: approved',
    ])
    const [sent] = await sandbox.outbox(shop.id)
    expect(JSON.stringify(sent!.content)).toMatch(
      new RegExp(`"Ana Souza","${number}","http[^"]*/exchanges/requests/[^"]*"`),
    )
    await shop.write({ phone: ana.phone, text: 'Oi' })
    const next = await requested(shop)
    await approve(shop, next.id)
    await confirm(shop, next.id)
    await app.drainJobs()
    expect(await listNotified(shop, next.id)).toEqual([
      'notified Message: approved',
      'notified Message: completed',
    ])
    // It appears in the conversation, but neither creates nor reorders it.
    expect(await shop.conversation(ana.phone)).toMatchObject({ lastMessagePreview: 'Oi' })
    // The template is in use by the settings.
    const inUse = await shop.call(deleteTemplate, { params: { id: String(template) } })
    expect(inUse.status).toBe(409)
  })

  test('a message under way when its request is deleted still counts and leaves no row', async () => {
    const shop = await exchangeShop(app, byMessage({ rejected: { text: 'Não' } }))
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400020006' })
    await sandbox.setMode(shop.id, 'timeout')
    const { id } = await requested(shop)
    await reject(shop, id)
    await app.drainJobs()
    expect((await remove(shop, id)).status).toBe(204)
    expect(await usage(shop)).toEqual({ used: 0, reserved: 1 })
    await sandbox.setMode(shop.id, 'up')
    await app.advance(61_000)
    await app.drainJobs()
    expect(await usage(shop)).toEqual({ used: 1, reserved: 0 })
    expect(await textsTo(shop)).toHaveLength(1)
    expect(await noticesLeft(shop)).toBe(0)
  })

  test('a message waiting for a retry when its request is deleted is dropped and its unit released', async () => {
    const shop = await exchangeShop(app, byMessage({ rejected: { text: 'Não' } }))
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400020007' })
    await sandbox.setMode(shop.id, 'down')
    const { id } = await requested(shop)
    await reject(shop, id)
    await app.drainJobs()
    expect(await usage(shop)).toEqual({ used: 0, reserved: 1 })
    expect((await remove(shop, id)).status).toBe(204)
    expect(await usage(shop)).toEqual({ used: 0, reserved: 0 })
    await sandbox.setMode(shop.id, 'up')
    await app.advance(61_000)
    await app.drainJobs()
    expect(await textsTo(shop)).toEqual([])
    expect(await noticesLeft(shop)).toBe(0)
  })

  test.runIf(isFullSuite)('a provider that is down is tried again, and given up in the end', async () => {
    const shop = await exchangeShop(app, byMessage({ approved: { text: 'Oi' } }))
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400020005' })
    await sandbox.setMode(shop.id, 'down')
    const { id } = await requested(shop)
    await approve(shop, id)
    for (let n = 0; n < 8; n += 1) {
      await app.drainJobs()
      await app.advance(61 * 60_000)
    }
    expect(await listNotified(shop, id)).toEqual(['notification-failed Message: approved (provider-error)'])
    expect(await usage(shop)).toEqual({ used: 0, reserved: 0 })
  })
})

test('settings accept only a template that can be sent here', async () => {
  const shop = await exchangeShop(app)
  await connectOfficial(shop)
  const ctx = await shop.context()
  const make = (name: string, body: string) => makeTemplate(ctx, { name, body })
  const fits = await make('fits', 'Hi {{1}}, bye.')
  const four = await make('four', 'Hi {{1}}, {{2}}, {{3}} and {{4}}, bye.')
  const pending = await make('pending', 'Hi')
  await app.database.root
    .updateTable('message_templates')
    .set({ status: 'pending' })
    .where('id', '=', pending)
    .execute()
  const save = (officialapiTemplateId: number | null) =>
    shop.call(saveSettings, { body: { messaging: { approved: { officialapiTemplateId } } } })
  const field = 'messaging.approved.officialapiTemplateId'
  expect(await save(four)).toMatchObject(refused(400, 'more than three parameters'))
  const message = `${field}: the template is pending: only an approved one can be sent`
  expect(await save(pending)).toMatchObject(refused(400, message))
  expect((await save(fits)).status).toBe(200)
  // A stored template may be paused later and sent back unchanged.
  await app.database.root
    .updateTable('message_templates')
    .set({ status: 'paused' })
    .where('id', '=', fits)
    .execute()
  expect((await save(fits)).status).toBe(200)
  expect((await save(null)).status).toBe(200)
})
