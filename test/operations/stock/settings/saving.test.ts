import { describe, expect, onTestFinished, test, vi } from 'vitest'
import getCounter from '#operations/stock/counter/api/get-settings'
import saveCounter from '#operations/stock/counter/api/save-settings'
import sendTestEmail from '#operations/stock/sending/api/send-test-email'
import getSettings from '#operations/stock/settings/api/get-settings'
import saveSettings from '#operations/stock/settings/api/save-settings'
import activateFeatures from '#operations/store/onboarding/api/activate-features'
import { Context } from '#runtime/context'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { deleteRows } from '#test/support/rows'
import { stockShop } from '#test/support/stock'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const save = (shop: Shop, body: unknown) => shop.call(saveSettings, { body })
const read = async (shop: Shop) => (await shop.call(getSettings)).body
const outage = (shop: Shop, mode: string) => post(app, `/sandbox/api/ecommerce/${shop.id}/outage`, { mode })
const webhooks = async (shop: Shop) =>
  app.database.root
    .selectFrom('sandbox_objects')
    .selectAll()
    .where('store_id', '=', shop.id)
    .where('kind', '=', 'webhook')
    .execute()

describe('settings of stock alerts', () => {
  test('If-Match refers to the save, not to the webhook registration before it', async () => {
    const shop = await connectedStore(app)
    await save(shop, { allowPhones: true })
    const tag = (await shop.call(getSettings)).headers.get('etag')!
    const { transaction } = Context.prototype
    let isFirst = true
    vi.spyOn(Context.prototype, 'transaction').mockImplementation(async function (this: Context, ...of) {
      const done = await transaction.apply(this, of as never)
      if (isFirst && !this.inTransaction) {
        isFirst = false
        expect((await save(shop, { allowPhones: false })).status).toBe(200)
      }
      return done as never
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const late = await shop.call(saveSettings, { body: { allowPhones: true }, headers: { 'if-match': tag } })
    expect([late.status, isFirst, (await read(shop)).allowPhones]).toEqual([409, false, false])
  })

  test('have defaults until they are saved', async () => {
    const shop = await connectedStore(app)
    const defaults = await read(shop)
    expect(defaults).toMatchObject({
      isEnabled: false,
      isMailproviderEnabled: null,
      allowEmails: true,
      templateEmail: { subject: '{{productName}} is back in stock', logo: '' },
      modalTitle: 'Tell me when it is back',
      buttonInProductPageCSS: null,
      webhookRegistered: false,
      webhookRegisteredAt: null,
      lastStockEventAt: null,
      officialapiTemplateStatus: null,
      updatedAt: null,
    })
    expect((await save(shop, defaults)).body).toEqual({
      ...defaults,
      webhookRegistered: true,
      webhookRegisteredAt: app.clock.now().toISOString(),
    })
  })

  test('the webhook is registered on every save, before anything is saved', async () => {
    const shop = await connectedStore(app)
    await deleteRows(shop, 'sandbox_objects', { kind: 'webhook' })
    expect((await save(shop, { isEnabled: false })).body.webhookRegistered).toBe(true)
    const [hook, ...others] = await webhooks(shop)
    expect(others).toEqual([])
    expect(hook!.data).toMatchObject({ topic: 'stock.updated' })
    const { secret } = hook!.data as { secret: string }
    expect(JSON.stringify(await read(shop))).not.toContain(secret)

    await outage(shop, 'down')
    const late = await save(shop, { isEnabled: true, modalTitle: 'x' })
    expect(late.status).toBe(503)
    expect(await read(shop)).toMatchObject({ isEnabled: false, modalTitle: 'Tell me when it is back' })
    await outage(shop, 'up')
    expect((await save(shop, { isEnabled: true })).status).toBe(200)
    expect(await webhooks(shop)).toHaveLength(1)

    const lonely = await store(app)
    expect((await save(lonely, {})).status).toBe(409)
  })

  test("the template's approval is shown, and it cannot be deleted while it is sent", async () => {
    const shop = await stockShop(app, { connection: 'official' })
    const ctx = await shop.context()
    const id = await makeTemplate(ctx, { name: 'voltou', body: 'Oi {{1}}, {{2}} voltou' })
    const pending = await makeTemplate(ctx, { name: 'logo', body: 'Oi', status: 'pending' })
    expect((await save(shop, { officialapiTemplateId: pending })).body.officialapiTemplateStatus).toBe(
      'pending',
    )
    expect((await save(shop, { officialapiTemplateId: id })).body.officialapiTemplateStatus).toBe('approved')
    const inUse = await shop.request('DELETE', `/messaging/templates/${id}`)
    expect(inUse).toMatchObject(refused(409, 'stock alerts'))
    expect((await save(shop, { officialapiTemplateId: 4711 })).body.officialapiTemplateStatus).toBeNull()
  })

  test('onboarding turns them on, and the webhook follows', async () => {
    const shop = await connectedStore(app)
    const answer = await shop.call(activateFeatures, { body: { features: ['stock-alerts'] } })
    expect(answer.status).toBe(200)
    await app.drainJobs()
    expect(await read(shop)).toMatchObject({ isEnabled: true, webhookRegistered: true })
  })

  test('the merchant texts are escaped in the email', async () => {
    const shop = await stockShop(app)
    await shop.save({
      templateEmail: {
        subject: 'Olá\r\nBcc: x@y.z {{unknown}} {{productName}}',
        logo: 'javascript:alert(1)',
        mainTitle: '<script>alert(1)</script>{{broken',
        greeting: '',
        buttonText: '"><img src=x onerror=1>',
      },
      buttonBackgroundColor: 'red;} body{display:none',
    })
    const answer = await shop.call(sendTestEmail, { body: { email: 'look@example.com' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      sentTo: 'look@example.com',
      subject: '[Test] Olá Bcc: x@y.z Avental',
    })
    const [mail] = await listSandboxMail(app.database.root as never, { to: 'look@example.com' })
    expect(mail!.html).toContain('&#60;script&#62;alert(1)&#60;/script&#62;{{broken')
    expect(mail!.html).not.toMatch(/<script|<img|javascript:|display:none|Hi /)
    await shop.save({ templateEmail: { mainTitle: '{{productName}}: {{price}}' } })
    await shop.call(sendTestEmail, { body: { email: 'price@example.com' } })
    const [priced] = await listSandboxMail(app.database.root as never, { to: 'price@example.com' })
    expect(priced!.html).toContain('Avental: R$ 100,00</h1>')
    expect(await shop.all()).toEqual([])
    expect((await shop.call(sendTestEmail, { body: {} })).body.sentTo).toBe(shop.email)
    expect((await shop.call(sendTestEmail)).body.sentTo).toBe(shop.email)
    expect((await shop.call(sendTestEmail, { body: { email: 'a+bounce@example.com' } })).status).toBe(400)
    expect((await shop.call(sendTestEmail, { body: { email: 'a+down@example.com' } })).status).toBe(503)
  })
})

describe('the stock counter', () => {
  const saveIt = (shop: Shop, body: unknown) => shop.call(saveCounter, { body })

  test('has limits and a scope, and refuses unknown products', async () => {
    const shop = await stockShop(app)
    const defaults = (await shop.call(getCounter)).body
    expect(defaults).toMatchObject({ isEnabled: false, threshold: 10, scope: 'all', updatedAt: null })
    for (const [body, field] of [
      [{ text: '{{name}}' }, 'text'],
      [{ lastUnitText: '{{oops' }, 'lastUnitText'],
      [{ isEnabled: true, scope: 'products' }, 'productIds'],
      [{ isEnabled: true, scope: 'categories' }, 'categoryIds'],
    ] as const) {
      expect(await saveIt(shop, body)).toMatchObject(refused(400, field))
    }
    const products = { isEnabled: true, scope: 'products', productIds: ['2000'] }
    const saved = await saveIt(shop, { ...products, lastUnitText: '' })
    expect(saved.body).toMatchObject({ isEnabled: true, lastUnitText: null, productIds: ['2000'] })
    await outage(shop, 'down')
    expect((await saveIt(shop, saved.body)).body).toEqual(saved.body)
    expect((await saveIt(shop, { productIds: ['2000', 'unmet'] })).status).toBe(503)
  })

  test('shows low stock as cached', async () => {
    const shop = await stockShop(app)
    await saveIt(shop, { isEnabled: true, threshold: 7, text: 'Só {{stock}} de {{productName}}' })
    const widgetOf = async (productId: string) =>
      (await visit(shop, `/widgets?page=product&productId=${productId}`)).body.stockCounter
    expect((await widgetOf('2000')).variants).toEqual([
      { variantId: '3002', stock: 7, text: 'Só 7 de Luminária <b>Lua</b>' },
    ])
    await shop.restock(1, '3002')
    expect((await widgetOf('2000')).variants).toEqual([
      { variantId: '3002', stock: 1, text: 'Última unidade!' },
    ])
    await shop.restock(null, '3002')
    expect((await widgetOf('2000')).variants).toEqual([])
    await saveIt(shop, { scope: 'products', productIds: ['1001'] })
    expect(await widgetOf('2000')).toBeUndefined()
  })
})
