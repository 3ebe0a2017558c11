import fc from 'fast-check'
import { expect, test } from 'vitest'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import { computeBundleDiscount } from '#operations/store/ecommerce/quote-rules'
import { decimalsOf } from '#runtime/values/money'
import { hasChromium, servedApp } from '#test/support/browser'
import { currencies } from '#test/support/currencies'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { post } from '#test/support/numbers'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'a bundle is chosen, added to the cart and tracked; a sold-out one is not sold, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    const made = await shop.call(createBundle, {
      body: {
        ...{ name: 'Café da manhã', title: 'Melhor juntos', description: 'Para começar bem o dia.' },
        items: [{ productId: '1001' }, { productId: '1002' }],
        ...{ discountType: 'percentage', discountValue: 10, maxPerOrder: 2 },
      },
    })
    expect(made.status).toBe(201)
    await open('/products/1001')
    const bundle = page.locator('store-bundles').getByRole('region', { name: 'Melhor juntos' })
    await bundle.getByText('R$ 198,00').waitFor()
    await bundle.getByText('R$ 220,00').waitFor()
    await bundle.getByText('Você economiza R$ 22,00').waitFor()
    await bundle.getByText('No máximo 2 por pedido.').waitFor()
    expect(await bundle.getByRole('link').allTextContents()).toEqual(['Avental'])
    // It follows the page's variant until the shopper chooses one in the bundle.
    await page.locator('select[name=variantId]').selectOption('2002')
    await bundle.getByText('R$ 144,00').waitFor()
    await bundle.getByLabel('Opção de Caneca').selectOption('2001')
    await bundle.getByText('R$ 198,00').waitFor()
    await bundle.getByLabel('Opção de Caneca').selectOption('2002')
    await expectAccessible(page)
    await bundle.scrollIntoViewIfNeeded()
    const figures = async () => {
      const { data } = (await shop.call(listBundles)).body
      return data.map(({ impressions, addsToCart }: Record<string, number>) => [impressions, addsToCart])
    }
    await expect.poll(figures).toEqual([[1, 0]])
    await bundle.getByRole('button', { name: 'Adicionar tudo ao carrinho' }).click()
    await bundle.getByText('Está tudo no seu carrinho.').waitFor()
    await expect.poll(figures).toEqual([[1, 1]])
    const clicks = app.database.root.selectFrom('discounts').select('clicks').where('store_id', '=', shop.id)
    expect(await clicks.execute()).toEqual([{ clicks: 1 }])

    await open('/cart')
    await page.locator('[data-cart]').getByText('R$ 144,00').waitFor()

    await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/2002/stock`, { stock: 0 })
    await app.drainJobs()
    await open('/products/1002')
    await bundle.getByText('R$ 198,00').waitFor()
    expect(await bundle.locator('option:disabled').allTextContents()).toEqual([
      expect.stringContaining('Esgotado'),
    ])
    await page.evaluate(`document.addEventListener('storefront:add-to-cart', (event) => {
      event.stopImmediatePropagation()
      event.detail.respondWith(Promise.reject(new Error('full')))
    }, true)`)
    await bundle.getByRole('button').click()
    await bundle.getByText('Não foi possível adicionar.').waitFor()
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/2003/stock`, { stock: 0 })
    await app.drainJobs()
    await open('/products/1002')
    await bundle.getByRole('button', { name: 'Esgotado', disabled: true }).waitFor()
    await expectAccessible(page)
    expect(faults).toEqual([])
  },
)

test('the browser computes the discount of a bundle like the checkout', async () => {
  const file = '../../../../operations/promotions/bundles/elements/bundle-math.js'
  const inBrowser = await import(new URL(file, import.meta.url).href)
  const cents = fc.bigInt({ min: 1n, max: 99_999_999n })
  const percentage = fc.integer({ min: 1, max: 1_000_000 }).map((each) => each / 10_000)
  const discount = fc.oneof(
    fc.record({ discountType: fc.constant('percentage' as const), discountValue: percentage }),
    fc.record({
      discountType: fc.constantFrom('fixed' as const, 'price' as const),
      discountValue: cents.map((each) => Number(each) / 100),
    }),
  )
  fc.assert(
    fc.property(discount, cents, currencies, ({ discountType, discountValue }, regular, currency) => {
      const value = discountType === 'percentage' ? String(discountValue) : discountValue.toFixed(2)
      expect(
        inBrowser.bundleOff({ discountType, discountValue }, regular, { decimals: decimalsOf(currency) }),
      ).toBe(
        computeBundleDiscount(
          { discountType, value } as Parameters<typeof computeBundleDiscount>[0],
          regular,
          currency,
        ),
      )
    }),
  )
})
