import { expect, test } from 'vitest'
import listSubmissions from '#operations/capture/contact-form/api/list-submissions'
import updateFormSettings from '#operations/capture/contact-form/api/update-form-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible, getFocusedText } from '#test/support/demo-shop'
import { store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const { app, url } = await servedApp()

const fields = [
  { key: 'name', label: 'Nome', type: 'text', required: true, placeholder: 'Como chamamos você?' },
  { key: 'email', label: 'E-mail', type: 'email', required: true },
  { key: 'phone', label: 'Telefone', type: 'phone' },
  // A form element has a member of this name.
  { key: 'elements', label: 'Assunto', type: 'select', options: ['Troca', 'Entrega'], required: true },
  { key: 'querySelector', label: 'É presente', type: 'checkbox' },
  { key: 'message', label: 'Mensagem', type: 'textarea', required: true },
]

test.skipIf(!hasChromium).each([1280, 390])(
  'the form opens behind its corner button, and inline where the theme places it, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    const saved = await shop.call(updateFormSettings, {
      body: { isEnabled: true, position: 'bottom-left', consentRequired: true, fields },
    })
    expect(saved.status).toBe(200)
    await open()
    const opener = page.getByRole('button', { name: 'Fale conosco' })
    await opener.waitFor()
    expect((await opener.boundingBox())!.x).toBe(16)
    await expectAccessible(page)
    await opener.click()
    const dialog = page.getByRole('dialog', { name: 'Fale conosco' })
    await dialog.waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await getFocusedText(page)).toBe('Fale conosco')

    await opener.click()
    await dialog.getByRole('button', { name: 'Enviar' }).click()
    expect(await dialog.getByText('Preencha este campo.').count()).toBe(4)
    await dialog.getByText('Marque para continuar.').waitFor()
    await expectAccessible(page)
    await dialog.getByPlaceholder('Como chamamos você?').fill('Ana')
    await dialog.getByLabel('E-mail').fill('ana@example')
    await dialog.getByLabel('Assunto').selectOption('Troca')
    await dialog.getByLabel('É presente').check()
    await dialog.getByLabel('Mensagem').fill('Olá')
    await dialog.getByLabel('Concordo').check()
    await app.advance(2000)
    await dialog.getByRole('button', { name: 'Enviar' }).click()
    // The browser accepts this address, the API does not.
    await dialog.getByText('Confira o e-mail.').waitFor()
    await dialog.getByLabel('E-mail').fill('ana@example.com')
    await dialog.getByRole('button', { name: 'Enviar' }).click()
    await dialog.getByText('Obrigado! Entraremos em contato.').waitFor()
    await expectAccessible(page)
    const { body } = await shop.call(listSubmissions)
    expect(body.data).toMatchObject([
      {
        name: 'Ana',
        email: 'ana@example.com',
        message: 'Olá',
        values: { elements: 'Troca', querySelector: true },
        pageUrl: page.url(),
      },
    ])

    await open('/contact')
    const form = page.locator('store-contact-form form')
    await form.waitFor()
    expect(await page.locator('store-contact-form').count()).toBe(1)
    const { x, width: wide } = (await form.boundingBox())!
    expect([x >= 0, x + wide <= width]).toEqual([true, true])
    await expectAccessible(page)
    // The response to the invalid address.
    expect(faults).toEqual([expect.stringContaining('400')])
  },
)

test('the consent box is shown, with a text, only if a tick has an effect', async () => {
  const shop = await store(app)
  const usual = 'I agree to receive news and offers from this store.'
  const said = 'Concordo em receber novidades e ofertas desta loja.'
  const own = 'Li a política de privacidade.'
  const asked = async (body: object) => {
    const saved = await shop.call(updateFormSettings, { body: { isEnabled: true, ...body } })
    expect(saved.status).toBe(200)
    return (await visit(shop, '/contact-form')).body.settings.consentText
  }
  const none = { consentRequired: false, subscribeToNewsletter: false }
  expect(await asked({ ...none, consentText: usual })).toBe('')
  expect(await asked({ ...none, consentText: own })).toBe(own)
  expect(await asked({ ...none, consentText: '' })).toBe('')
  expect(await asked({ ...none, subscribeToNewsletter: true, consentText: usual })).toBe(said)
  expect(await asked({ ...none, consentRequired: true, consentText: '' })).toBe(said)
})
