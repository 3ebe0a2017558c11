import fc from 'fast-check'
import { expect, test } from 'vitest'
import createSticker from '#operations/product-page/labels/api/create-sticker'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import saveSettings from '#operations/promotions/promotions/api/save-settings'
import { applyQuantity, sumDiscount, type Unit } from '#operations/store/ecommerce/quote-rules'
import { putCategories, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { decimalsOf, inCurrency } from '#runtime/values/money'
import { hasChromium, servedApp } from '#test/support/browser'
import { currencies } from '#test/support/currencies'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { twoProducts } from '#test/support/platform'
import { runs } from '#test/support/suite'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'a promotion over the picture, next to the price and in the cart, with the remaining time, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await putCategories(shop.platform, [{ id: '301', name: 'Cozinha' }])
    await putProducts(shop.platform, [{ ...twoProducts[1]!, categoryIds: ['301'] }])
    await (await shop.context()).queue(productSnapshotsRefresh, { productIds: ['1002'] })
    await app.drainJobs()
    const endsAt = new Date(app.clock.ms() + 47 * 3_600_000).toISOString()
    for (const body of [
      { name: 'Leve 3', buyQuantity: 3, payQuantity: 2, endsAt },
      {
        ...{ name: 'Segunda pela metade', buyQuantity: 2, payQuantity: 1, discountPercentage: 50 },
        ...{ mixing: 'same-product', scope: 'categories', categoryIds: ['301'] },
      },
    ]) {
      expect((await shop.call(createPromotion, { body })).status).toBe(201)
    }
    await shop.call(createSticker, {
      body: { name: 'Etiqueta', kind: 'text', text: 'Oferta', position: 'top-left' },
    })
    const texts = {
      ...{ productPageText: 'Leve {{buy}}, pague {{pay}}', countdownText: 'Termina em {{timeLeft}}' },
      ...{ progressText: 'Falta {{missing}} para {{label}}', successText: 'Você economizou {{saved}}' },
    }
    await shop.call(saveSettings, { body: { ...texts, showCountdown: true } })

    await open('/products/1001')
    const label = page.locator('store-promotions[placement=label]')
    const text = page.locator('store-promotions:not([placement])')
    await label.getByText('3x2').waitFor()
    await text.getByText('Leve 3, pague 2').waitFor()
    await text.getByText(/Termina em 1 dia 2[123]:\d\d:\d\d/).waitFor()
    expect(await text.getByText('Leve 2').count()).toBe(0)
    const sticker = (await page.locator('.gallery').getByText('Oferta').boundingBox())!
    await expect
      .poll(async () => (await label.getByText('3x2').boundingBox())!.y)
      .toBeGreaterThanOrEqual(sticker.y + sticker.height)
    await expectAccessible(page)

    await open()
    const cardOf = (id: string) => page.locator(`[data-product-id="${id}"] store-promotions`)
    await cardOf('1002').getByText('2x1 -50%').waitFor()
    await cardOf('1002').getByText('3x2').waitFor()
    await cardOf('1001').getByText('3x2').waitFor()
    expect(await cardOf('1001').getByText('2x1').count()).toBe(0)
    await expectAccessible(page)

    await open('/products/1002')
    const cart = page.locator('store-promotions[placement=cart]')
    const add = async (quantity: string) => {
      await page.locator('input[name=quantity]').fill(quantity)
      await page.getByRole('button', { name: 'Adicionar' }).click()
      await page.getByText('✓').waitFor()
    }
    await add('1')
    await open('/cart')
    await cart.getByText('Falta 1 para 2x1 -50%').waitFor()
    await cart.getByText('Falta 2 para 3x2').waitFor()
    await cart.getByText(/Termina em/).waitFor()
    await expectAccessible(page)
    await open('/products/1002')
    await add('1')
    await open('/cart')
    await cart.getByText('Você economizou R$ 50,00').waitFor()
    await cart.getByText('Falta 1 para 3x2').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const impressions = app.database.root
      .selectFrom('discounts')
      .select('impressions')
      .where('store_id', '=', shop.id)
    await expect.poll(() => impressions.execute()).toEqual([{ impressions: 1 }, { impressions: 1 }])

    await shop.call(saveSettings, { body: { showInProductList: false, showInCart: false } })
    await open()
    await page.waitForLoadState('networkidle')
    expect(await page.locator('store-promotions').count()).toBe(0)
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'a cart of which the checkout has taken the discount off says what it saves, however much of it the theme tells',
  async () => {
    const { shop, page, open, faults } = await demoShop(app, url)
    const body = { name: 'Leve 3', buyQuantity: 3, payQuantity: 2 }
    expect((await shop.call(createPromotion, { body })).status).toBe(201)
    await shop.call(saveSettings, { body: { successText: 'Economia de {{saved}}.' } })
    await open('/cart')
    const cart = page.locator('store-promotions[placement=cart]')
    const line = { productId: '1002', variantId: '2003', quantity: 3 }
    const tell = (detail: object) =>
      page.evaluate(`document.dispatchEvent(new CustomEvent('storefront:cart', { detail:
        window.storefrontCart = ${JSON.stringify({ currency: 'BRL', total: 200, ...detail })} }))`)
    const expectSaved = async (detail: object, words: string) => {
      await tell({ items: [] })
      await expect.poll(() => cart.getByRole('status').count()).toBe(0)
      await tell(detail)
      await cart.getByRole('status').waitFor()
      expect((await cart.getByRole('status').innerText()).replace(/\s/gu, ' ')).toBe(words)
    }
    await cart.waitFor({ state: 'attached' })
    const free = { ...line, quantity: 1, total: 0 }
    const whole = 'Economia de R$ 100,00.'
    // A line less its discount, as text or number; and split lines, as Shopify does.
    await expectSaved({ items: [{ ...line, total: 200, unitPrice: 100 }] }, whole)
    await expectSaved({ items: [{ ...line, total: '200.00', unitPrice: '100.00' }] }, whole)
    const split = [
      { ...line, quantity: 2, total: 200, unitPrice: 100 },
      { ...free, unitPrice: 100 },
    ]
    await expectSaved({ items: split }, whole)
    // The checkout's answer takes precedence, even if it gives another discount.
    const given = [{ title: 'Leve 3', amount: 99.9 }]
    await expectSaved({ items: split, discounts: given }, 'Economia de R$ 99,90.')
    await tell({ items: split, discounts: [{ title: 'Outro', amount: 50 }] })
    await expect.poll(() => cart.getByRole('status').count()).toBe(0)
    expect(faults).toEqual([])
  },
)

test('the browser counts sets like the checkout', async () => {
  const file = '../../../../operations/promotions/promotions/elements/promotion-math.js'
  const inBrowser = await import(new URL(file, import.meta.url).href)
  const terms = fc
    .record({
      buyQuantity: fc.integer({ min: 2, max: 6 }),
      payQuantity: fc.integer({ min: 1, max: 5 }),
      discountPercentage: fc.integer({ min: 1, max: 1_000_000 }).map((each) => each / 10_000),
      mixing: fc.constantFrom('any' as const, 'same-product' as const, 'same-variant' as const),
      maxSetsPerOrder: fc.option(fc.integer({ min: 1, max: 3 })),
    })
    .filter(({ buyQuantity, payQuantity }) => payQuantity < buyQuantity)
  const line = fc.record({
    productId: fc.constantFrom('1', '2'),
    variantId: fc.constantFrom('a', 'b'),
    quantity: fc.integer({ min: 1, max: 7 }),
    cents: fc.integer({ min: 1, max: 20_000 }),
  })
  fc.assert(
    fc.property(terms, fc.array(line, { maxLength: 6 }), currencies, (promotion, given, currency) => {
      const { toNumber } = inCurrency(currency)
      // A variant has one price.
      const lines = given.map((each) => ({
        ...each,
        variantId: `${each.productId}${each.variantId}`,
        cents: given.find((other) => other.productId + other.variantId === each.productId + each.variantId)!
          .cents,
      }))
      const units = lines.flatMap((each, at) =>
        Array.from(
          { length: each.quantity },
          (): Unit => ({ ...each, line: at, categoryIds: [], cents: BigInt(each.cents) }),
        ),
      )
      const spec = { ...promotion, scope: 'all', categoryIds: [], productIds: [], excludedProductIds: [] }
      const applied = applyQuantity(spec as never, units)
      const { saved, sets } = inBrowser.computeProgress(
        promotion,
        lines.map(({ cents, ...each }) => ({ ...each, total: toNumber(BigInt(cents * each.quantity)) })),
        { decimals: decimalsOf(currency) },
      )
      expect(saved).toBe(toNumber(applied ? sumDiscount(applied.off) : 0n))
      // A promotion that saves nothing takes no units at the checkout.
      if (saved > 0) expect(sets * promotion.buyQuantity).toBe(applied?.units.size ?? 0)
    }),
    runs(300),
  )
})
