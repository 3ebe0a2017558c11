/** Storefront elements of the banners. */
import { expect, test } from 'vitest'
import saveActions from '#operations/bars/actions/api/save-settings'
import saveCountdown from '#operations/bars/countdown/api/save-settings'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

test.skipIf(!hasChromium)('announcements rotate without shifting the page', async () => {
  const { shop, page, open, faults } = await demoShop(app, url, { width: 390 })
  const long = 'Coleção nova no ar: cerâmicas, linhos e luminárias feitas à mão, com frete por nossa conta'
  const announcements = [{ text: 'Oi' }, { text: long, linkUrl: '/novidades' }]
  await shop.call(saveCountdown, { body: { isEnabled: true, announcements, rotationSeconds: 2 } })
  await open()
  const bar = page.locator('store-countdown-bar').getByRole('region')
  await bar.getByText('Oi').waitFor()
  // Hidden announcements are not focusable.
  expect(await bar.getByRole('link').count()).toBe(0)
  const readTop = async () => (await page.locator('header').boundingBox())!.y
  // The bar has slid it down.
  await expect.poll(async () => (await readTop()) - (await bar.boundingBox())!.height).toBe(0)
  const before = await readTop()
  const link = bar.getByRole('link', { name: long })
  await link.waitFor()
  expect(await link.getAttribute('class')).toContain('turned slide')
  expect(await readTop()).toBe(before)
  await expectAccessible(page)
  expect(faults).toEqual([])
})

test.skipIf(!hasChromium)('buttons have icons; a closed banner reappears with new content', async () => {
  const { shop, page, open, faults } = await demoShop(app, url)
  const action = {
    type: 'link',
    label: 'Ofertas',
    icon: 'tag',
    target: '/ofertas',
    backgroundColor: '#166534',
  }
  const save = (text: string) =>
    shop.call(saveActions, { body: { isEnabled: true, isClosable: true, text, actions: [action] } })
  expect((await save('Precisa de ajuda?')).status).toBe(200)
  await open()
  const bar = page.locator('store-action-bar').getByRole('region')
  await bar.getByRole('link', { name: 'Ofertas' }).locator('svg path[d^="M3 4v8"]').waitFor()
  await expectAccessible(page)
  await bar.getByRole('button', { name: 'Fechar' }).click()
  await bar.waitFor({ state: 'detached' })
  await open('/products/1001')
  await page.locator('store-action-bar').waitFor({ state: 'attached' })
  await page.waitForLoadState('networkidle')
  expect(await bar.count()).toBe(0)
  await save('Fale com a gente')
  await open()
  await bar.getByText('Fale com a gente').waitFor()
  expect(faults).toEqual([])
})

test.skipIf(!hasChromium)(
  'the remaining amount for free shipping is exact to the cent despite binary floats',
  async () => {
    const { shop, page, open, faults } = await demoShop(app, url)
    const texts = {
      initialText: 'Vazio',
      progressText: 'Faltam {{remaining}} ({{percent}})',
      successText: 'Grátis',
    }
    const save = (body: object) =>
      shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 50, ...texts, ...body } })
    expect((await save({ excludedProductIds: ['1002'] })).status).toBe(200)
    await open()
    const bar = page.locator('store-free-shipping-bar').getByRole('status')
    await bar.getByText('Vazio').waitFor()
    const tell = (cart: object) =>
      page.evaluate(`document.dispatchEvent(new CustomEvent('storefront:cart', { detail:
        window.storefrontCart = ${JSON.stringify({ currency: 'BRL', ...cart })} }))`)
    const other = { productId: '1001', variantId: '2001', quantity: 1 }
    const excluded = { productId: '1002', variantId: '2003', quantity: 2 }
    // 64.57 − 14.57 is 49.99999999999999 in floats.
    await tell({
      total: 64.57,
      items: [
        { ...other, total: 50 },
        { ...excluded, total: 14.57 },
      ],
    })
    await bar.getByText('Grátis', { exact: true }).waitFor()
    await tell({ total: '14.50', items: [{ ...other, total: '14.50' }] })
    await bar.getByText('Faltam R$ 35,50 (29)').waitFor()
    // Before discounts an excluded product is subtracted with its original price.
    expect((await save({ excludedProductIds: ['1002'], afterDiscounts: false })).status).toBe(200)
    await open()
    await bar.getByText('Vazio').waitFor()
    const items = [
      { ...other, unitPrice: 40, total: 20 },
      { ...excluded, unitPrice: '25.00', total: 25 },
    ]
    await tell({ total: 45, totalBeforeDiscounts: 90, items })
    await bar.getByText('Faltam R$ 10,00 (80)').waitFor()
    await tell({ total: 0, items: [] })
    await bar.getByText('Vazio').waitFor()
    // Only with the line prices.
    await tell({ total: 45, items })
    await bar.getByText('Faltam R$ 10,00 (80)').waitFor()
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'a countdown shows the time of the server, whatever the clock of the device',
  async () => {
    const { shop, page, open, faults } = await demoShop(app, url)
    const hour = 3_600_000
    const countdown = { isEnabled: true, type: 'fixed', timezone: 'UTC', endLocal: '2026-11-20T15:00' }
    expect((await shop.call(saveCountdown, { body: { isEnabled: true, countdown } })).status).toBe(200)
    const clock = page.locator('store-countdown-bar').locator('.clock')
    const shows = async (hours: number) => {
      await open()
      await clock.waitFor()
      const shown = /(\d\d):(\d\d):(\d\d)/.exec(await clock.innerText())!
      const [, h, m, s] = shown.map(Number) as [number, number, number, number]
      expect(Math.abs(h * 3600 + m * 60 + s - hours * 3600)).toBeLessThan(60)
    }
    for (const ahead of [2, -2, 26, 0]) {
      await page.context().clock.setSystemTime(app.clock.ms() + ahead * hour)
      await shows(3)
    }
    // The cache of a content delivery network has kept the response for an hour.
    await page.context().clock.setSystemTime(app.clock.ms())
    await page.route('**/widgets?*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, headers: { ...response.headers(), age: '3600' } })
    })
    await shows(2)
    // The browser's own cache answers with the headers of a response that is five minutes old.
    await page.unroute('**/widgets?*')
    await page.route('**/widgets?*', async (route) => {
      const response = await route.fetch()
      const date = new Date(app.clock.ms() + hour - 300_000).toUTCString()
      await route.fulfill({ response, headers: { ...response.headers(), date } })
    })
    await shows(2)
    expect(faults).toEqual([])
  },
)
