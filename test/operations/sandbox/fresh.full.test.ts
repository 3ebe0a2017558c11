import { expect, test } from 'vitest'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop } from '#test/support/demo-shop'

const { app, url } = await servedApp()

test.skipIf(!hasChromium)(
  'a changed setting shows on the next page of the shop despite browser caches',
  async () => {
    const { shop, page, open } = await demoShop(app, url)
    const bar = page.locator('store-free-shipping-bar')
    const statuses: number[] = []
    page.on('response', (response) => {
      if (response.url().includes('/widgets?')) statuses.push(response.status())
    })
    await shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 199, initialText: 'One' } })
    await open()
    await bar.getByText('One').waitFor()
    await shop.call(saveFreeShipping, { body: { initialText: 'Two' } })
    await open()
    await bar.getByText('Two').waitFor()
    await page.reload()
    await bar.getByText('Two').waitFor()
    await shop.call(saveFreeShipping, { body: { isEnabled: false } })
    await page.reload()
    await expect.poll(() => statuses.length).toBe(4)
    expect(await bar.count()).toBe(0)
    expect(await page.locator('script[src*="loader.js"]').getAttribute('data-fresh')).toBe('always')
  },
)
