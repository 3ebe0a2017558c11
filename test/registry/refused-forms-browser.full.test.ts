/**
 * Refused forms of shoppers on a phone: the invalid field has the focus and is visible, all other input is kept, and
 * submitting again works. `SHOTS=<folder>` saves screenshots.
 */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ana, png } from '#test/operations/exchanges/shopper'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { findViolations } from '#test/support/demo-shop'
import { reviewLink, world } from './shopper-pages.ts'

const { app, url } = await servedApp()

async function openPhone(): Promise<Page> {
  const { page } = await openPage()
  await page.setViewportSize({ width: 390, height: 844 })
  return page
}

/** The focused field is marked invalid with its error and is visible; axe finds no violation. */
async function expectRefused(page: Page, name: string, words: string): Promise<void> {
  const focused = page.locator(':focus')
  expect(await focused.getAttribute('aria-invalid')).toBe('true')
  const describedBy = ((await focused.getAttribute('aria-describedby')) ?? '').split(' ')
  const texts = await Promise.all(describedBy.map((id) => page.locator(`[id="${id}"]`).textContent()))
  expect(texts.join(' ')).toContain(words)
  const box = (await focused.boundingBox())!
  expect([box.y >= 0, box.y + box.height <= 844]).toEqual([true, true])
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  await saveScreenshot(page, name)
  expect(await findViolations(page, ['best-practice'])).toEqual([])
}

async function saveScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SHOTS) return
  await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` })
  await page.screenshot({ path: `${process.env.SHOTS}/${name}-whole.png`, fullPage: true })
}

test.skipIf(!hasChromium)('an exchange request is refused and submitted again', async () => {
  const { shop } = await world(app, 'pt-BR')
  const order = await shop.delivered()
  const page = await openPhone()
  await page.goto(`${url}/storefront/${shop.publicId}/exchanges`)
  await page.getByLabel('Número do pedido').fill(order.number)
  await page.getByLabel('E-mail ou telefone').fill('eva@example.com')
  await page.getByRole('button').click()
  await page.getByRole('alert').getByText('Nenhum pedido tem este número').waitFor()
  expect(await page.locator(':focus').getAttribute('role')).toBe('alert')
  await saveScreenshot(page, 'lookup')
  expect(await findViolations(page, ['best-practice'])).toEqual([])
  await page.getByLabel('E-mail ou telefone').fill(ana.email)
  await page.getByRole('button').click()

  await page.getByText('Trocar produtos').click()
  const form = page.locator('details', { hasText: 'Trocar produtos' })
  await form.getByLabel('Quantos').fill('2')
  await form.getByLabel('Motivo').selectOption('defective')
  await form.getByLabel('Comentário').fill('\nVeio <b>quebrada</b> & "suja"')
  await form.getByLabel('O que você quer').selectOption('2002')
  await form.getByLabel('Algo mais').fill('Obrigada')
  await form.getByLabel('Aceito').check()
  const typed = async () =>
    Promise.all(
      ['Quantos', 'Motivo', 'Comentário', 'O que você quer', 'Algo mais'].map((label) =>
        form.getByLabel(label).inputValue(),
      ),
    )
  const before = await typed()
  await form.locator('button').click()
  await form.getByRole('alert').waitFor()
  await expectRefused(page, 'exchange', 'precisa de uma foto')
  expect([await typed(), await form.getByLabel('Aceito').isChecked()]).toEqual([before, true])

  const photo = { name: 'foto da caneca.png', mimeType: 'image/png', buffer: png }
  await form.getByLabel('Fotos').setInputFiles(photo)
  await form.getByLabel('O que você quer').selectOption('')
  await form.locator('button').click()
  await form.getByText('é obrigatório em uma troca').waitFor()
  await expectRefused(page, 'exchange-files', 'obrigatório em uma troca')
  await form.getByText('Escolha de novo, o navegador não guarda arquivos: foto da caneca.png').waitFor()
  await form.getByLabel('Fotos').setInputFiles(photo)
  await form.getByLabel('O que você quer').selectOption('2002')

  await app.advance(31 * 60_000)
  await form.locator('button').click()
  await page.getByRole('alert').getByText('expirou, procure o pedido de novo').waitFor()
  await saveScreenshot(page, 'expired')
  expect(await findViolations(page, ['best-practice'])).toEqual([])
  await page.getByLabel('Número do pedido').fill(order.number)
  await page.getByLabel('E-mail ou telefone').fill(ana.email)
  await page.getByRole('button').click()
  await form.getByLabel('Fotos').setInputFiles(photo)
  expect(await typed()).toEqual(before)
  await saveScreenshot(page, 'found-again')
  await form.locator('button').click()
  await page.getByRole('heading', { name: 'Troca EX-1001' }).waitFor()
})

test.skipIf(!hasChromium)('a review is refused and submitted again', async () => {
  const at = await world(app, 'es-MX')
  await at.shop.delivered({
    items: [
      { variantId: '2001', quantity: 1 },
      { variantId: '2003', quantity: 1 },
    ],
  })
  const page = await openPhone()
  await page.goto(`${url}${await reviewLink(at)}`)
  const form = page.locator('form').last()
  await form.getByLabel('Título').fill('Muy "buena"')
  await form.getByLabel('Tu opinión').fill('Línea uno\n<i>línea dos</i>')
  await form.getByLabel('Tu nombre').fill('Bia')
  // Like a browser without form validation.
  await page.evaluate('document.querySelectorAll("form").forEach((each) => { each.noValidate = true })')
  await form.locator('button').click()
  await page.getByRole('alert').waitFor()
  await expectRefused(page, 'review', 'ellena este campo')
  expect(await form.getByLabel('Título').inputValue()).toBe('Muy "buena"')
  expect(await form.getByLabel('Tu opinión').inputValue()).toBe('Línea uno\n<i>línea dos</i>')
  expect(await page.locator('form').first().getByLabel('Tu nombre').inputValue()).toBe(ana.name)
  await form.getByLabel('Tu valoración').selectOption('4')
  await form.locator('button').click()
  await page.getByRole('heading', { name: 'Gracias por tu opinión' }).waitFor()
})
