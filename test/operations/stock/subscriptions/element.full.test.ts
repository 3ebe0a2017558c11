import { expect, test } from 'vitest'
import saveSettings from '#operations/stock/settings/api/save-settings'
import getMetrics from '#operations/stock/subscriptions/api/get-metrics'
import listSubscriptions from '#operations/stock/subscriptions/api/list-subscriptions'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { post } from '#test/support/numbers'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'a shopper leaves an email on a sold-out card, and a phone on the product page, %i wide',
  async (width) => {
    const { shop, page, open, faults, asked } = await demoShop(app, url, { width })
    const body = {
      isEnabled: true,
      buttonShowInProductList: true,
      buttonInProductPageCSS: 'text-transform: uppercase',
      buttonInProductListCSS: '.open { letter-spacing: 3px }',
      modalTitle: 'Quer que a gente avise?',
      alreadySubscribedMessage: 'Calma, já anotamos.',
    }
    expect((await shop.call(saveSettings, { body })).status).toBe(200)
    for (const variantId of ['2001', '2003'])
      await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/${variantId}/stock`, { stock: 0 })
    await app.drainJobs()

    const styleOf = (element: string, name: string) =>
      page.evaluate(
        `getComputedStyle(document.querySelector('${element}').shadowRoot.querySelector('button')).${name}`,
      )

    await open()
    const onCard = page.locator('[data-product-id="1002"] store-stock-alert')
    const button = onCard.getByRole('button', { name: 'Avise-me quando chegar' })
    await button.click()
    expect(asked.filter((each) => each.includes('/widgets'))).toHaveLength(1)
    expect(await styleOf('[data-product-id="1002"] store-stock-alert', 'letterSpacing')).toBe('3px')
    expect(await page.locator('[data-product-id="1001"] store-stock-alert button').count()).toBe(0)
    const dialog = page.getByRole('dialog', { name: 'Quer que a gente avise?' })
    await expectAccessible(page)
    await dialog.getByLabel('Seu e-mail').fill('nada')
    await dialog.getByRole('button', { name: 'Avise-me' }).click()
    await dialog.getByText('Informe um e-mail válido.').waitFor()
    await expectAccessible(page)
    await dialog.getByLabel('Seu e-mail').fill('ana@example.com')
    await dialog.getByLabel('Seu nome').fill('Ana')
    await dialog.getByRole('button', { name: 'Avise-me' }).click()
    await dialog.getByText('Pronto! Avisaremos você.').waitFor()
    await page.keyboard.press('Escape')
    expect(await dialog.count()).toBe(0)
    const focused = () =>
      page.evaluate('document.activeElement?.shadowRoot?.activeElement?.textContent?.trim()')
    await expect.poll(focused).toBe('Avise-me quando chegar')

    await open('/products/1001')
    const onPage = page.locator('.product store-stock-alert').getByRole('button')
    await onPage.waitFor()
    expect(await styleOf('.product store-stock-alert', 'textTransform')).toBe('uppercase')
    await page.locator('select[name=variantId]').selectOption('2002')
    await expect.poll(() => onPage.count()).toBe(0)
    await page.locator('select[name=variantId]').selectOption('2001')
    await onPage.click()
    await dialog.getByRole('radio', { name: 'Telefone' }).check()
    await dialog.getByLabel('Seu telefone').fill('(11) 98888-7777')
    const path = '**/stock-notifications'
    await page.route(path, (route) => route.abort())
    await dialog.getByRole('button', { name: 'Avise-me' }).click()
    await dialog.getByText('Algo deu errado.').waitFor()
    await expectAccessible(page)
    await page.unroute(path)
    await dialog.getByRole('button', { name: 'Tentar de novo' }).click()
    await dialog.getByText('Pronto! Avisaremos você.').waitFor()
    await page.keyboard.press('Escape')
    await onPage.click()
    await dialog.getByRole('radio', { name: 'Telefone' }).check()
    await dialog.getByLabel('Seu telefone').fill('11988887777')
    await dialog.getByRole('button', { name: 'Avise-me' }).click()
    await dialog.getByText('Calma, já anotamos.').waitFor()

    const { body: listed } = await shop.call(listSubscriptions, { query: { status: 'all' } })
    expect(listed.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          variantId: '2003',
          email: 'ana@example.com',
          name: 'Ana',
          source: 'product-list',
        }),
        expect.objectContaining({ variantId: '2001', phone: '+5511988887777', source: 'product-page' }),
      ]),
    )
    const { body: metrics } = await shop.call(getMetrics)
    expect(metrics).toMatchObject({ subscribers: 2, waiting: 2 })
    // The browser itself logs the aborted and the refused request.
    expect(faults.filter((each) => !each.startsWith('Failed to load resource'))).toEqual([])
  },
)
