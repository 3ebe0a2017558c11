/** When the popup appears by itself, and what a shopper who closes it keeps. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import saveSettings from '#operations/capture/popup/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop } from '#test/support/demo-shop'

const { app, url } = await servedApp()

async function opened(settings: object) {
  const shown = await demoShop(app, url)
  const saved = await shown.shop.call(saveSettings, { body: { isEnabled: true, ...settings } })
  expect([saved.status, saved.body.error]).toEqual([200, undefined])
  return { ...shown, dialog: shown.page.getByRole('dialog') }
}

/** Opens it as a theme does, retrying until it listens. */
const asked = (page: Page) =>
  expect
    .poll(async () => {
      await page.evaluate(`document.dispatchEvent(new CustomEvent('storefront:open-popup'))`)
      return page.getByRole('dialog').count()
    })
    .toBe(1)

test.skipIf(!hasChromium)('the popup stays closed if another tab has shown it meanwhile', async () => {
  const display = { delaySeconds: 3, frequency: 'days' }
  const { page, shop, open, faults } = await opened({ display })
  await open()
  const other = await page.context().newPage()
  await other.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
  await other.goto(`${url}/sandbox/shop/${shop.id}/products/1001`)
  await other.locator('store-popup').waitFor({ state: 'attached' })
  await asked(page)
  // Past the other tab's delay, by the clock that the delay uses.
  await other.evaluate(
    'new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve, { timeout: 2000 }), 4500))',
  )
  expect(await other.getByRole('dialog').count()).toBe(0)
  expect(faults).toEqual([])
})

test.skipIf(!hasChromium)('the popup opens for a theme that asks before its module is loaded', async () => {
  const display = { delaySeconds: null, teaserEnabled: true, teaserText: 'Ganhe 10%' }
  const { page, open, dialog } = await opened({ display })
  await page.addInitScript(`Object.defineProperty(window, 'storefront', {
    configurable: true,
    set(value) {
      Object.defineProperty(window, 'storefront', { value })
      queueMicrotask(() => document.dispatchEvent(new CustomEvent('storefront:open-popup')))
    },
  })`)
  await open()
  await dialog.waitFor()
})

test.skipIf(!hasChromium)('without storage the popup opens only on request', async () => {
  const display = { delaySeconds: 0, frequency: 'days' }
  const { page, open, dialog } = await opened({ display })
  await page.addInitScript(`
      for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, name, { get() { throw new DOMException('Off', 'SecurityError') } })`)
  await open()
  await page.locator('store-popup').waitFor({ state: 'attached' })
  await page.waitForTimeout(1500)
  expect(await dialog.count()).toBe(0)
  await asked(page)
})

test.skipIf(!hasChromium)(
  'a wheel closed while it turns, or before the answer, shows the prize',
  async () => {
    const coupon = { mode: 'shared', code: 'RODA10', type: 'percentage', value: 10 }
    const prizes = [
      { label: '10% de desconto', color: '#6366f1', probability: 99.99, coupon },
      { label: 'Nada', color: '#fef3c7', probability: 0.01, coupon: null },
    ]
    const display = { delaySeconds: 0, frequency: 'always', hideAfterSubscribe: false }
    const { page, open, dialog } = await opened({ roulette: { enabled: true, prizes }, display })
    await open()
    await dialog.waitFor()
    await page.getByLabel('Seu e-mail').fill('ana@example.com')
    await page.getByRole('checkbox').check()
    await app.advance(2000)
    await page.getByRole('button', { name: 'Girar' }).click()
    await page.locator('store-popup .disc[style*="1710deg"]').waitFor()
    expect(await page.getByText('RODA10').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByText('RODA10').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    const isAnswered = Promise.withResolvers<void>()
    await page.route('**/newsletter/subscribers', async (route) => {
      await isAnswered.promise
      await route.continue()
    })
    await open()
    await dialog.waitFor()
    await page.getByLabel('Seu e-mail').fill('bia@example.com')
    await page.getByRole('checkbox').check()
    await app.advance(2000)
    await page.getByRole('button', { name: 'Girar' }).click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    isAnswered.resolve()
    await page.getByText('RODA10').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  },
)
