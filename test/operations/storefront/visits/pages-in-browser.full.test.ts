/** Pages behind links, in a browser: they meet WCAG 2.2 AA and fit the window. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { unsubscribes } from '#operations/capture/index'
import createPreview from '#operations/capture/popup/api/create-preview'
import saveReviewSettings from '#operations/reviews/settings/api/save-settings'
import createInvitation from '#operations/store/team/api/create-invitation'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { ana, type ExchangeShop, exchangeShop, png, returnAddress } from '#test/operations/exchanges/shopper'
import { declinedCard, openCheckout } from '#test/support/billing'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

const linkTo = async (to: string, path: string): Promise<string> => {
  const mails = await listSandboxMail(app.database.root as never, { to })
  const link = new RegExp(`https?://\\S+${path}\\S*`)
  return link.exec(mails.find(({ text }) => link.test(text))!.text)![0]
}

/** The links sent to a shopper, a payer and a new team member. */
async function links(shop: ExchangeShop): Promise<Record<string, string>> {
  const order = await shop.delivered()
  await app.advance(3_660_000)
  await app.drainJobs()
  const email = 'bia@example.com'
  const invited = await shop.call(createInvitation, { body: { email, role: 'member' } })
  expect(invited.status).toBe(201)
  const prize = { label: '10% de desconto', color: '#6366f1', probability: 50 }
  const coupon = { mode: 'shared', code: 'DEZ', type: 'percentage', value: 10 }
  const roulette = {
    enabled: true,
    prizes: [
      { ...prize, coupon },
      { ...prize, label: 'Nada', coupon: null },
    ],
  }
  const previews = [{}, { roulette, fields: { name: { enabled: true } } }]
  const shown = await Promise.all(
    previews.map((settings) => shop.call(createPreview, { body: { settings } })),
  )
  await app.drainJobs()
  const base = `${url}/storefront/${shop.publicId}`
  const opened = await openCheckout(shop)
  return {
    review: await linkTo(ana.email, '/reviews/form'),
    'dead-review': `${base}/reviews/form?token=nothing`,
    unsubscribe: unsubscribes.buildLink(await shop.context(), 'reviews', email),
    popup: shown[0]!.body.hostedUrl,
    roulette: shown[1]!.body.hostedUrl,
    invitation: await linkTo(email, '/invitations/'),
    checkout: `${url}${opened.path}`,
    exchange: `${base}/exchanges#${order.number}`,
  }
}

async function looked(page: Page, name: string): Promise<void> {
  const { width } = page.viewportSize()!
  for (const each of [width, 320]) {
    await page.setViewportSize({ width: each, height: 844 })
    await expectAccessible(page)
    const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect([name, each, Math.max(0, over as number)]).toEqual([name, each, 0])
  }
  await page.setViewportSize({ width, height: 844 })
}

test.skipIf(!hasChromium).each([390, 1280])(
  'every page behind a link is accessible and fits, %i wide',
  async (width) => {
    await app.setClock('2026-04-01T12:00:00.000Z')
    const texts = { intro: 'Troque ou devolva em até 30 dias.', policy: 'A primeira troca é grátis.' }
    const shop = await exchangeShop(app, { texts, returnAddress, autoApprove: true }, { locale: 'pt-BR' })
    const on = { isEnabled: true, request: { delayDays: 0 } }
    expect((await shop.call(saveReviewSettings, { body: on })).status).toBe(200)
    const { exchange, ...all } = await links(shop)
    const { page, faults, asked } = await openPage()
    await page.setViewportSize({ width, height: 844 })
    for (const [name, address] of Object.entries(all)) {
      await page.goto(address)
      await looked(page, name)
    }
    const press = (name: string) => page.getByRole('button', { name }).click()

    await page.goto(all.review!)
    await page.getByLabel('Sua nota').selectOption('4')
    await page.getByLabel('Sua opinião').fill('Linda')
    await press('Enviar a avaliação')
    await page.getByRole('heading', { name: 'Obrigado pela sua avaliação' }).waitFor()
    await looked(page, 'review-sent')

    await page.goto(all.unsubscribe!)
    await press('Cancelar inscrição')
    await page.getByRole('heading', { name: 'Sua inscrição foi cancelada' }).waitFor()

    await page.goto(all.checkout!)
    await page.getByLabel('Card number').fill(`${declinedCard.slice(0, -1)}3`)
    await page.getByLabel('Name on the card').fill('Bia')
    await page.getByLabel('Month').fill('13')
    await page.getByLabel('Year').fill('2030')
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByRole('alert').waitFor()
    await looked(page, 'checkout-refused')

    const [address, number] = exchange!.split('#')
    await page.goto(address!)
    await looked(page, 'exchange')
    await page.getByLabel('Número do pedido').fill(number!)
    await page.getByLabel('E-mail ou telefone do pedido').fill('eva@example.com')
    await press('Encontrar meu pedido')
    await page.getByRole('alert').waitFor()
    await looked(page, 'exchange-refused')
    await page.goBack()
    await page.getByLabel('Número do pedido').fill(number!)
    await page.getByLabel('E-mail ou telefone do pedido').fill(ana.email)
    await press('Encontrar meu pedido')
    await page.getByText('Devolver produtos').click()
    await looked(page, 'order')
    const form = page.locator('details', { hasText: 'Devolver produtos' })
    await form.getByLabel('Quantos (até 2)').fill('1')
    await form.getByLabel('Motivo').selectOption({ label: 'Está com defeito (com uma foto)' })
    await form.getByLabel('Fotos').setInputFiles({ name: 'foto.png', mimeType: 'image/png', buffer: png })
    await form.getByLabel('Aceito as condições').check()
    await form.getByRole('button', { name: 'Solicitar' }).click()
    await page.getByRole('heading', { name: 'Devolução EX-1001' }).waitFor()
    await looked(page, 'status')

    expect(faults.filter((fault) => !/404|422|favicon/.test(fault))).toEqual([])
    expect(asked.filter((each) => !each.startsWith(url) && !each.startsWith('data:'))).toEqual([])
  },
)
