import { describe, expect, onTestFinished, test, vi } from 'vitest'
import getCounter from '#operations/stock/counter/api/get-settings'
import saveCounter from '#operations/stock/counter/api/save-settings'
import sendTestEmail from '#operations/stock/sending/api/send-test-email'
import getSettings from '#operations/stock/settings/api/get-settings'
import saveSettings from '#operations/stock/settings/api/save-settings'
import { looks } from '#operations/stock/settings/schema'
import activateFeatures from '#operations/store/onboarding/api/activate-features'
import { Context } from '#runtime/context'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { connectedStore } from '#test/support/platform'
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
  test('If-Match is of the save, whatever is noted of the webhook before it', async () => {
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

  test('each setting has its bounds', async () => {
    const shop = await connectedStore(app)
    const bounds = {
      subject: 500,
      logo: 2000,
      mainTitle: 500,
      greeting: 1000,
      mainContent: 5000,
      buttonText: 200,
      footerText: 5000,
    }
    for (const [field, max] of Object.entries(bounds)) {
      const answer = await save(shop, { templateEmail: { [field]: 'x'.repeat(max) } })
      expect([field, answer.status]).toEqual([field, 200])
      const over = await save(shop, { templateEmail: { [field]: 'x'.repeat(max + 1) } })
      expect([over.status, over.body.error.message]).toEqual([
        400,
        `templateEmail.${field}: must have at most ${max} characters`,
      ])
      expect((await save(shop, { templateEmail: { [field]: null } })).status).toBe(400)
    }
    for (const field of looks) {
      expect((await save(shop, { [field]: 'x'.repeat(5000) })).status).toBe(200)
      const over = await save(shop, { [field]: 'x'.repeat(5001) })
      expect([over.status, over.body.error.message]).toEqual([
        400,
        `${field}: must have at most 5000 characters`,
      ])
      expect((await save(shop, { [field]: null })).body[field]).toBeNull()
      expect((await save(shop, { [field]: '' })).body[field]).toBe('')
    }
    expect((await save(shop, { templateMessaging: 'x'.repeat(5000) })).status).toBe(200)
    expect((await save(shop, { templateMessaging: 'x'.repeat(5001) })).status).toBe(400)
    expect((await save(shop, { templateMessaging: null })).status).toBe(400)
    for (const id of [0, 1.5, '5', -1, Number.MAX_SAFE_INTEGER + 1]) {
      expect([id, (await save(shop, { officialapiTemplateId: id })).status]).toEqual([id, 400])
    }
    for (const id of [Number.MAX_SAFE_INTEGER, 1, null]) {
      expect((await save(shop, { officialapiTemplateId: id })).body.officialapiTemplateId).toBe(id)
    }
    for (const flag of ['isEnabled', 'ignoreStockThreshold', 'allowEmails', 'allowPhones']) {
      expect((await save(shop, { [flag]: null })).status).toBe(400)
      expect((await save(shop, { [flag]: 'true' })).status).toBe(400)
    }
    expect((await save(shop, { isMailproviderEnabled: true })).body.isMailproviderEnabled).toBe(true)
    expect((await save(shop, { isMailproviderEnabled: null })).body.isMailproviderEnabled).toBeNull()
    const unknown = await save(shop, { foo: 1, templateEmail: { bar: 1 } })
    expect(unknown.status).toBe(400)
    expect(unknown.body.error.message).toContain('foo: is not a known field')
    expect((await save(shop, [])).status).toBe(400)
  })

  test('are defaults until saved; what is left out stays; sent back, nothing changes', async () => {
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
    expect((await save(shop, {})).status).toBe(200)
    const back = await save(shop, defaults)
    expect(back.body).toMatchObject({ updatedAt: null, webhookRegistered: true })
    await app.advance(1000)
    const changed = await save(shop, { templateEmail: { subject: 'Voltou!' }, modalTitle: null })
    expect(changed.body).toEqual({
      ...defaults,
      templateEmail: { ...defaults.templateEmail, subject: 'Voltou!' },
      modalTitle: null,
      webhookRegistered: true,
      webhookRegisteredAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:01.000Z',
    })
    await app.advance(1000)
    expect((await save(shop, changed.body)).body).toEqual(changed.body)
    expect(await read(shop)).toEqual(changed.body)
    expect(JSON.stringify(changed.body)).not.toMatch(/secret/i)
  })

  test('the webhook is registered on every save, before anything is saved', async () => {
    const shop = await connectedStore(app)
    await app.database.root
      .deleteFrom('sandbox_objects')
      .where('store_id', '=', shop.id)
      .where('kind', '=', 'webhook')
      .execute()
    expect((await save(shop, { isEnabled: false })).body.webhookRegistered).toBe(true)
    const [hook, ...others] = await webhooks(shop)
    expect(others).toEqual([])
    expect(hook!.data).toMatchObject({ topic: 'stock.updated' })
    const { secret } = hook!.data as { secret: string }
    expect(JSON.stringify(await read(shop))).not.toContain(secret)

    await outage(shop, 'down')
    const refused = await save(shop, { isEnabled: true, modalTitle: 'x' })
    expect(refused.status).toBe(503)
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
    const refused = await shop.request('DELETE', `/messaging/templates/${id}`)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('stock alerts'),
    ])
    expect((await save(shop, { officialapiTemplateId: 4711 })).body.officialapiTemplateStatus).toBeNull()
  })

  test('the onboarding turns them on, and the webhook follows', async () => {
    const shop = await connectedStore(app)
    const answer = await shop.call(activateFeatures, { body: { features: ['stock-alerts'] } })
    expect(answer.status).toBe(200)
    await app.drainJobs()
    expect(await read(shop)).toMatchObject({ isEnabled: true, webhookRegistered: true })
  })

  test('what a merchant typed is no HTML and no script in the email', async () => {
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
    expect((await shop.call(sendTestEmail, { body: { email: 'nobody' } })).status).toBe(400)
  })
})

describe('the stock counter', () => {
  const saveIt = (shop: Shop, body: unknown) => shop.call(saveCounter, { body })

  test('its bounds, its scope and what the platform does not know', async () => {
    const shop = await stockShop(app)
    const defaults = (await shop.call(getCounter)).body
    expect(defaults).toMatchObject({ isEnabled: false, threshold: 10, scope: 'all', updatedAt: null })
    expect((await saveIt(shop, defaults)).body).toEqual(defaults)
    for (const [body, field] of [
      [{ threshold: 0 }, 'threshold'],
      [{ threshold: 1001 }, 'threshold'],
      [{ threshold: 1.5 }, 'threshold'],
      [{ text: '' }, 'text'],
      [{ text: 'x'.repeat(201) }, 'text'],
      [{ text: '{{name}}' }, 'text'],
      [{ lastUnitText: '{{oops' }, 'lastUnitText'],
      [{ fontSize: 9 }, 'fontSize'],
      [{ textColor: 'red' }, 'textColor'],
      [{ isEnabled: true, scope: 'products' }, 'productIds'],
      [{ isEnabled: true, scope: 'categories' }, 'categoryIds'],
      [{ productIds: ['9999'] }, 'productIds'],
      [{ categoryIds: ['9999'] }, 'categoryIds'],
      [{ shape: 'x' }, 'shape'],
    ] as const) {
      const answer = await saveIt(shop, body)
      expect([answer.status, answer.body.error?.message]).toEqual([400, expect.stringContaining(field)])
    }
    const saved = await saveIt(shop, {
      isEnabled: true,
      scope: 'products',
      productIds: ['2000'],
      lastUnitText: '',
    })
    expect(saved.body).toMatchObject({ isEnabled: true, lastUnitText: null, productIds: ['2000'] })
    await outage(shop, 'down')
    expect((await saveIt(shop, saved.body)).body).toEqual(saved.body)
    expect((await saveIt(shop, { productIds: ['2000', 'unmet'] })).status).toBe(503)
  })

  test('shows what few are left of, as the mirror knows it', async () => {
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
    const starter = await store(app, { plan: 'starter' })
    expect((await starter.call(getCounter)).status).toBe(200)
  })
})
