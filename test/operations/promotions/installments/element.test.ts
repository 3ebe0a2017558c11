import fc from 'fast-check'
import { expect, test } from 'vitest'
import saveBadges from '#operations/product-page/labels/api/save-settings'
import createRule from '#operations/promotions/installments/api/create-rule'
import saveSettings from '#operations/promotions/installments/api/save-settings'
import { buildOptions, findRuleFor } from '#operations/promotions/installments/math'
import { decimalsOf } from '#runtime/values/money'
import { hasChromium, servedApp } from '#test/support/browser'
import { currencies } from '#test/support/currencies'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { runs } from '#test/support/suite'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'installments of the chosen variant, of the products of a list and of the cart, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await shop.call(createRule, {
      body: { name: 'Cartão', minAmount: 0, maxAmount: 100, maxInstallments: 3 },
    })
    await shop.call(createRule, {
      body: {
        ...{ name: 'Cartão com juros', minAmount: 100, maxInstallments: 6 },
        ...{ interestFreeInstallments: 1, monthlyInterestRate: 2.99 },
      },
    })
    const settings = {
      interestFreeText: '{{installments}}x de {{amount}} sem juros',
      interestText: '{{installments}}x de {{amount}} ({{rate}}% a.m., total {{total}})',
      tableTitle: 'Ver parcelas',
    }
    await shop.call(saveSettings, { body: { ...settings, showInProductList: true, showInCart: true } })

    await open('/products/1001')
    const own = page.locator('store-installments')
    await own.getByText('6x de R$ 22,14 (2,99% a.m., total R$ 132,84)').waitFor()
    await page.locator('select[name=variantId]').selectOption('2002')
    await own.getByText('3x de R$ 20,00 sem juros').waitFor()
    await own.getByText('Ver parcelas').click()
    await own.getByRole('row', { name: '2x R$ 30,00 R$ 60,00 sem juros' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Adicionar' }).click()
    await page.getByText('✓').waitFor()

    await open('/cart')
    await own.getByText('3x de R$ 20,00 sem juros').waitFor()
    await expectAccessible(page)

    await open()
    const card = page.locator('[data-product-id="1002"] store-installments')
    // Some themes write cents into it.
    await page.evaluate(`document.querySelector('[data-product-id="1002"]').dataset.price = '9990'`)
    await page.evaluate('storefront.refresh()')
    await card.getByText('6x de R$ 18,45').waitFor()
    expect(await card.getByText('Ver parcelas').count()).toBe(0)
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

    await shop.call(saveSettings, { body: { showInProductList: false, showInProductPage: false } })
    await open()
    await page.waitForLoadState('networkidle')
    expect(await own.count()).toBe(0)
    await open('/products/1001')
    await page.waitForLoadState('networkidle')
    expect(await own.count()).toBe(0)
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'nothing is reckoned from a price, or shown beside prices, of another currency',
  async () => {
    const { shop, page, open, faults } = await demoShop(app, url)
    await shop.call(createRule, { body: { name: 'Cartão', maxInstallments: 3 } })
    await shop.call(saveSettings, { body: { showInProductList: true } })
    const featuredPrice = { isEnabled: true, discountPercentage: 10, method: 'Pix', showInProductPage: true }
    expect((await shop.call(saveBadges, { body: { featuredPrice } })).status).toBe(200)
    await open('/products/1002')
    const [installments, featured] = [
      page.locator('store-installments'),
      page.locator('store-featured-price'),
    ]
    const said = async () => [
      (await installments.getByText('3x').count()) > 0,
      (await featured.getByText('90,00').count()) > 0,
    ]
    await expect.poll(said).toEqual([true, true])
    const tell = (name: string, detail: object) =>
      page.evaluate(`document.dispatchEvent(new CustomEvent('storefront:${name.toLowerCase()}', {
        detail: window.storefront${name} = ${JSON.stringify(detail)} }))`)
    // 100 in the store's currency are 18 in the shopper's.
    const product = { productId: '1002', variantId: '2003', price: 18 }
    await tell('Product', { ...product, currency: 'EUR' })
    await expect.poll(said).toEqual([false, false])
    await tell('Product', { ...product, price: 100, currency: 'BRL' })
    await expect.poll(said).toEqual([true, true])
    // A theme that only gives the currency of its cart.
    await tell('Product', product)
    await tell('Cart', { total: 0, currency: 'EUR', items: [] })
    await expect.poll(said).toEqual([false, false])
    await tell('Product', { ...product, price: 100 })
    await tell('Cart', { total: 0, currency: 'BRL', items: [] })
    await expect.poll(said).toEqual([true, true])
    expect(faults).toEqual([])
  },
)

test('the browser computes installments to the cent like the server', async () => {
  const file = '../../../../operations/promotions/installments/elements/installments-math.js'
  const inBrowser = await import(new URL(file, import.meta.url).href)
  const money = fc.integer({ min: 0, max: 99_999_999_999 }).map((cents) => cents / 100)
  const smallMoney = fc.integer({ min: 1, max: 100_000 }).map((cents) => cents / 100)
  const rules = fc
    .record({
      bounds: fc.uniqueArray(money, { minLength: 1, maxLength: 4 }),
      maxInstallments: fc.integer({ min: 1, max: 36 }),
      free: fc.integer({ min: 1, max: 36 }),
      rate: fc.integer({ min: 1, max: 300_000 }).map((each) => each / 10_000),
      minInstallmentAmount: fc.oneof(fc.constant(0), smallMoney),
      isOpen: fc.boolean(),
    })
    .map(({ bounds, maxInstallments, free, rate, minInstallmentAmount, isOpen }) => {
      const sorted = bounds.sort((a, b) => a - b)
      return sorted.map((minAmount, at) => ({
        id: String(at),
        minAmount,
        maxAmount: sorted[at + 1] ?? (isOpen ? null : minAmount + 1000),
        maxInstallments,
        interestFreeInstallments: Math.min(free, maxInstallments),
        monthlyInterestRate: free < maxInstallments ? rate : 0,
        minInstallmentAmount,
      }))
    })
  const text = (amount: number) => amount.toFixed(2)
  fc.assert(
    fc.property(rules, fc.oneof(money, smallMoney), currencies, (given, price, currency) => {
      const shop = { decimals: decimalsOf(currency) }
      const terms = given.map((rule) => ({
        ...rule,
        minAmount: text(rule.minAmount),
        maxAmount: rule.maxAmount === null ? null : text(rule.maxAmount),
        monthlyInterestRate: rule.monthlyInterestRate.toFixed(4),
        minInstallmentAmount: text(rule.minInstallmentAmount),
      }))
      const rule = findRuleFor(text(price), terms, currency)
      const its = inBrowser.findRule(price, given, shop)
      expect(its?.id).toBe(rule?.id)
      expect(inBrowser.buildOptions(price, its, shop)).toEqual(buildOptions(text(price), rule, currency))
      expect(inBrowser.buildOptions(String(price), its, shop)).toEqual(
        inBrowser.buildOptions(price, its, shop),
      )
    }),
    runs(300),
  )
})
