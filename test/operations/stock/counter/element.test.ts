import { expect, test } from 'vitest'
import saveSettings from '#operations/stock/counter/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { post } from '#test/support/numbers'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'few are left of the variant that is chosen, %i wide',
  { timeout: 60_000 },
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await shop.call(saveSettings, { body: { isEnabled: true, threshold: 10 } })
    await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/2001/stock`, { stock: 3 })
    await app.drainJobs()
    await open('/products/1001')
    const counter = page.locator('store-stock-counter')
    await counter.getByText('3').waitFor()
    await expectAccessible(page)
    const tell = (variantId: number) =>
      page.evaluate(
        `document.dispatchEvent(new CustomEvent('storefront:product', { detail: { productId: 1001, variantId: ${variantId} } }))`,
      )
    // There are more of the other one.
    await tell(2002)
    await counter.getByText('3').waitFor({ state: 'detached' })
    await tell(2001)
    await counter.getByText('3').waitFor()
    expect(faults).toEqual([])
  },
)
