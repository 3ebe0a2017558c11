import { expect, test } from 'vitest'
import saveSettings from '#operations/stock/counter/api/save-settings'
import listProducts from '#operations/store/connections/api/list-products'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { post } from '#test/support/numbers'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'the counter shows the stock of the chosen variant, %i wide',
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
    // The other variant has more stock.
    await tell(2002)
    await counter.getByText('3').waitFor({ state: 'detached' })
    await tell(2001)
    await counter.getByText('3').waitFor()
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)('a card shows the stock of all its variants together', async () => {
  const { shop, page, open, faults } = await demoShop(app, url, { width: 390 })
  const body = { isEnabled: true, threshold: 10, showInProductList: true }
  await shop.call(saveSettings, { body })
  const stock = (variant: number, count: number) =>
    post(app, `/sandbox/api/ecommerce/${shop.id}/variants/${variant}/stock`, { stock: count })
  const { body: product } = await shop.call(listProducts, { query: { ids: '1001' } })
  expect(product.data[0].id).toBe('1001')
  const variants: { id: string }[] = product.data[0].variants
  for (const { id } of variants) await stock(Number(id), 2)
  await app.drainJobs()
  await open()
  const counter = page.locator('[data-product-id="1001"] store-stock-counter')
  await counter.getByText(String(2 * variants.length)).waitFor()
  await expectAccessible(page)
  // On the product page it counts the chosen variant.
  await open('/products/1001')
  await page.locator('store-stock-counter').first().getByText('2').waitFor()
  expect(faults).toEqual([])
})
