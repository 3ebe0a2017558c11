import fc from 'fast-check'
import { expect, test } from 'vitest'
import createBadge from '#operations/product-page/labels/api/create-badge'
import createSticker from '#operations/product-page/labels/api/create-sticker'
import saveSettings from '#operations/product-page/labels/api/save-settings'
import { defaultBadgeSettings } from '#operations/product-page/labels/badge-settings'
import { calculateFeaturedCents } from '#operations/product-page/labels/featured-price'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { decimalsOf } from '#runtime/values/money'
import { hasChromium, servedApp } from '#test/support/browser'
import { currencies } from '#test/support/currencies'
import { picture, serveMedia } from '#test/support/demo-media'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { twoProducts } from '#test/support/platform'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'stickers are over pictures, badges and the featured price next to them, %i wide',
  async (width) => {
    const { shop, page, open, faults, asked } = await demoShop(app, url, { width })
    await putProducts(shop.platform, [
      ...twoProducts,
      { id: '1003', name: 'Sem nada', variants: [{ id: '2004', sku: 'SEM-1', price: 10, stock: 1 }] },
    ])
    const excludedProductIds = ['1003']
    await serveMedia(page)
    const stickers = [
      { kind: 'text', text: 'Oferta', position: 'top-left' },
      { kind: 'preset', preset: 'limited', position: 'top-left', backgroundColor: '#111827' },
      { kind: 'image', imageUrl: picture('seal'), position: 'top-right', widthPercentage: 30 },
      { kind: 'image', imageUrl: picture('missing'), position: 'bottom-left' },
      {
        kind: 'preset',
        preset: 'free-shipping',
        position: 'bottom-right',
        scope: 'products',
        productIds: ['1001'],
      },
    ]
    for (const sticker of stickers) {
      const { status } = await shop.call(createSticker, {
        body: { name: 'Etiqueta', excludedProductIds, ...sticker },
      })
      expect(status).toBe(201)
    }
    for (const badge of [
      {
        text: 'Novidade',
        placement: 'above-title',
        icon: 'star',
        scope: 'products',
        productIds: ['1001', '1002'],
      },
      { text: 'Envio em 24 h', placement: 'below-title', icon: 'truck', borderRadius: 20 },
      { text: 'Só {{stock}}', placement: 'below-buy-button' },
    ]) {
      await shop.call(createBadge, { body: { name: 'Selo', excludedProductIds, ...badge } })
    }
    await shop.call(saveSettings, {
      body: {
        featuredPrice: {
          isEnabled: true,
          text: '{{price}} no {{method}}',
          method: 'Pix',
          showInProductList: true,
          excludedProductIds,
        },
      },
    })
    await open('/products/1001')
    const own = page.locator('.gallery store-stickers')
    await own.getByText('Frete grátis').waitFor()
    const frame = (await page.locator('.gallery > .nothing').boundingBox())!
    const boxOf = async (text: string) => (await own.getByText(text).boundingBox())!
    const [offer, limited, free] = [
      await boxOf('Oferta'),
      await boxOf('Edição limitada'),
      await boxOf('Frete grátis'),
    ]
    expect(offer.x - frame.x).toBeLessThan(12)
    expect(offer.y - frame.y).toBeLessThan(12)
    expect(limited.y).toBeGreaterThanOrEqual(offer.y + offer.height)
    expect(frame.x + frame.width - free.x - free.width).toBeLessThan(12)
    expect(frame.y + frame.height - free.y - free.height).toBeLessThan(12)
    const seal = (await own.locator('img[src*=seal]').boundingBox())!
    expect(Math.abs(seal.width - (frame.width - 12) * 0.3)).toBeLessThan(5)
    expect(await own.locator('img:visible').count()).toBe(1)
    const above = (await page
      .locator('store-badges[placement=above-title]')
      .getByText('Novidade')
      .boundingBox())!
    expect(above.y).toBeLessThan((await page.locator('h1').boundingBox())!.y)
    expect(await page.locator('store-badges[placement=below-title] svg').count()).toBe(1)
    await page.locator('store-badges[placement=below-buy-button]').getByText('Só 100').waitFor()
    const price = page.locator('store-featured-price')
    await price.getByText('R$ 108,00 no Pix').waitFor()
    await page.locator('select[name=variantId]').selectOption('2002')
    await price.getByText('R$ 54,00 no Pix').waitFor()
    await expectAccessible(page)
    await shop.call(saveSettings, { body: { featuredPrice: { minAmount: 100 } } })
    await open('/products/1001')
    await price.getByText('R$ 108,00 no Pix').waitFor()
    await page.locator('select[name=variantId]').selectOption('2002')
    await expect.poll(() => price.getByText('Pix').count()).toBe(0)
    asked.length = 0
    await open()
    const card = page.locator('[data-product-id="1002"]')
    await card.locator('store-stickers').getByText('Oferta').waitFor()
    await card.locator('store-featured-price').getByText('R$ 90,00 no Pix').waitFor()
    await card.locator('store-badges[placement=above-title]').getByText('Novidade').waitFor()
    expect(await card.getByText('Frete grátis').count()).toBe(0)
    expect(await page.locator('[data-product-id="1001"]').getByText('Frete grátis').count()).toBe(1)
    expect(await card.getByText('Só 50').count()).toBe(0)
    // One request for all, including the product that shows nothing.
    await page.locator('[data-product-id="1003"]').scrollIntoViewIfNeeded()
    await page.waitForTimeout(500)
    expect(asked.filter((each) => each.includes('/widgets?'))).toHaveLength(1)
    const shown = (await card.locator('a.image').boundingBox())!
    const its = (await card.getByText('Oferta').boundingBox())!
    expect([its.x >= shown.x, its.y >= shown.y]).toEqual([true, true])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await expectAccessible(page)
    expect(faults).toEqual([])
  },
)

test("the browser calculates a variant's price as the server does", async () => {
  const module = new URL(
    '../../../../operations/product-page/labels/elements/featured-cents.js',
    import.meta.url,
  )
  const { featuredCents: inBrowser } = await import(module.href)
  const cents = fc.integer({ min: 0, max: 100_000_000 }).map((each) => each / 100)
  const percentage = fc.integer({ min: 1, max: 900_000 }).map((each) => each / 10_000)
  fc.assert(
    fc.property(cents, percentage, cents, currencies, (price, discountPercentage, minAmount, currency) => {
      const settings = {
        ...defaultBadgeSettings.featuredPrice,
        isEnabled: true,
        discountPercentage,
        minAmount,
      }
      const product = {
        ...{ exists: true, productId: '1', price: price.toFixed(2), variants: [], currency },
      } as never
      expect(inBrowser(settings, price, { decimals: decimalsOf(currency) })).toBe(
        calculateFeaturedCents(settings, product, currency),
      )
    }),
  )
})
