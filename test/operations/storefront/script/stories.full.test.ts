/** Whole stories of a shopper, in a browser that is closed in between, and the API's records at the end. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import getPopupMetrics from '#operations/capture/popup/api/get-metrics'
import savePopup from '#operations/capture/popup/api/save-settings'
import getWishes from '#operations/product-page/wishlist/api/get-analytics'
import saveWishlist from '#operations/product-page/wishlist/api/save-settings'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import createGift from '#operations/promotions/gifts/api/create-gift'
import listGifts from '#operations/promotions/gifts/api/list-gifts'
import { discountsSync } from '#operations/promotions/handles'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import listPromotions from '#operations/promotions/promotions/api/list-promotions'
import listConversions from '#operations/statistics/conversions/api/list-conversions'
import listOrders from '#operations/statistics/orders/api/list-orders'
import saveStock from '#operations/stock/settings/api/save-settings'
import getStockMetrics from '#operations/stock/subscriptions/api/get-metrics'
import type { Operation } from '#runtime/operation'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { hasChromium, servedApp } from '#test/support/browser'
import { type DemoShop, demoShop, expectAccessible } from '#test/support/demo-shop'
import { post } from '#test/support/numbers'

const { app, url } = await servedApp()
const aDay = 86_400_000

async function saved({ shop }: DemoShop, operation: Operation, body: object): Promise<void> {
  const answer = await shop.call(operation, { body })
  expect([operation.spec.path, answer.status < 300, answer.body]).toEqual([
    operation.spec.path,
    true,
    answer.body,
  ])
}

/** Returns the number of the order. */
async function checkOut(page: Page, open: (path: string) => Promise<unknown>, email: string) {
  await open('/checkout')
  await page.getByLabel('Nome').fill('Ana Souza')
  await page.getByLabel('E-mail').fill(email)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Fazer o pedido' }).click()
  const thanks = page.getByText('Obrigado! Seu pedido:')
  await thanks.waitFor()
  await app.drainJobs()
  return (await thanks.textContent())!.split(': ')[1]!
}

test.skipIf(!hasChromium).each([1280, 390])(
  'a shopper wishes, returns and buys with a coupon: promotion, gift, order, conversion and wishes, %i wide',
  async (width) => {
    const demo = await demoShop(app, url, { width })
    const { shop, page: first, open, faults } = demo
    await saved(demo, saveWishlist, { isEnabled: true, addText: 'Quero', pageTitle: 'Minha lista' })
    await saved(demo, savePopup, {
      isEnabled: true,
      coupon: { enabled: true, mode: 'unique', prefix: 'VOLTA', type: 'percentage', value: 10 },
      display: { delaySeconds: null, teaserEnabled: true, teaserText: 'Ganhe 10%' },
    })
    const coupons = { combinesWith: { coupons: true } }
    await saved(demo, createPromotion, { name: 'Leve 3', buyQuantity: 3, payQuantity: 2, ...coupons })
    const gift = { productId: '1001', variantId: '2002' }
    await saved(demo, createGift, { name: 'Brinde', minAmount: 150, gift, ...coupons })

    await open('/products/1002')
    await first.locator('store-wishlist-button').getByRole('button').click()
    await first.getByRole('dialog').getByLabel('E-mail').fill('ana@example.com')
    await first.getByRole('button', { name: 'Salvar' }).click()
    const totals = async () => (await shop.call(getWishes)).body.totals
    await expect.poll(totals).toMatchObject({ adds: 1, contacts: 1, activeItems: 1 })

    await app.advance(aDay)
    const page = await demo.comeBack()
    const go = (path: string) => page.goto(`${url}/sandbox/shop/${shop.id}${path}`)
    const heart = page.locator('[data-product-id="1002"] store-wishlist-button').getByRole('button')
    await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('true')
    // The coupon belongs to another address: the order matches it by its code alone.
    await page.getByRole('button', { name: 'Ganhe 10%' }).click()
    await page.getByLabel('Seu e-mail').fill('noticias@example.com')
    await page.getByRole('dialog').getByRole('checkbox').check()
    await app.advance(2000)
    await page.getByRole('button', { name: 'Quero receber' }).click()
    const code = (await page.locator('store-popup code').textContent())!
    expect(code).toMatch(/^VOLTA/)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Continuar comprando' }).click()
    await app.advance(10_000)
    await app.drainJobs()

    await go('/wishlist')
    await page.locator('store-wishlist').getByRole('button', { name: 'Adicionar ao carrinho' }).click()
    await page.getByText('Avental está no carrinho').waitFor()
    await expectAccessible(page)
    await go('/products/1002')
    await page.locator('input[name=quantity]').fill('2')
    await page.getByRole('button', { name: 'Adicionar' }).click()
    await page.getByText('✓').waitFor()

    await go('/cart')
    await page.locator('store-promotions[placement=cart]').getByText('100,00').waitFor()
    await page.locator('[data-cart] tr', { hasText: 'Caneca' }).getByText('R$ 0,00').waitFor()
    await page.getByLabel('Cupom').fill(code.toLowerCase())
    await page.getByRole('button', { name: 'OK' }).click()
    await page.locator('[data-cart] th', { hasText: 'R$ 180,00' }).waitFor()
    await expectAccessible(page)
    const number = await checkOut(page, go, 'ana@example.com')

    const { body: orders } = await shop.call(listOrders)
    expect(orders.data).toMatchObject([
      {
        ...{ number, subtotal: 360, discount: 180, total: 180, couponCodes: [code] },
        ...{ attributedTo: 'newsletter', customer: { email: 'ana@example.com' } },
        items: [
          { variantId: '2003', quantity: 3, total: 180 },
          { variantId: '2002', quantity: 1, unitPrice: 60, total: 0 },
        ],
      },
    ])
    const { body: conversions } = await shop.call(listConversions, { query: { sourceType: 'newsletter' } })
    expect(conversions.data).toMatchObject([
      { orderNumber: number, channel: 'storefront', couponCode: code, revenue: 180, status: 'confirmed' },
    ])
    expect((await shop.call(getPopupMetrics)).body).toMatchObject({
      ...{ impressions: 1, subscribers: 1, couponsIssued: 1 },
      attributed: { orders: 1, revenue: 180 },
    })
    await expect.poll(totals).toMatchObject({ addsToCart: 1, purchases: 1, revenue: 180, shoppers: 1 })
    await (await shop.context()).queue(discountsSync, {})
    await app.drainJobs()
    for (const list of [listPromotions, listGifts]) {
      const { body } = await shop.call(list)
      expect(body.data).toMatchObject([{ usageCount: 1 }])
    }
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium).each([1280, 390])(
  'a shopper follows a stock alert, buys a bundle, and the order brings the token back, %i wide',
  async (width) => {
    const demo = await demoShop(app, url, { width })
    const { shop, page: first, open, faults } = demo
    await saved(demo, saveStock, { isEnabled: true })
    await saved(demo, createBundle, {
      ...{ name: 'Café', title: 'Melhor juntos', discountType: 'percentage', discountValue: 10 },
      items: [{ productId: '1001' }, { productId: '1002' }],
    })
    const stock = async (units: number) => {
      await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/2003/stock`, { stock: units })
      await app.drainJobs()
    }
    await stock(0)
    await open('/products/1002')
    await first.locator('.product store-stock-alert').getByRole('button').click()
    await first.getByLabel('Seu e-mail').fill('bia@example.com')
    await first.getByRole('dialog').getByRole('button', { name: 'Avise-me' }).click()
    await first.getByText('Pronto! Avisaremos você.').waitFor()

    await app.advance(aDay)
    await stock(5)
    const [mail] = await listSandboxMail(app.database.root as never, { to: 'bia@example.com' })
    const link = new URL(/https:\/\/\S+[?&]mk=[\w-]+/.exec(mail!.text)![0])
    const page = await demo.comeBack(`${link.pathname}${link.search}`)
    // On a busy machine a click would miss a button that slides.
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const go = (path: string) => page.goto(`${url}/sandbox/shop/${shop.id}${path}`)
    const bundle = page.locator('store-bundles')
    await bundle.getByRole('button', { name: 'Adicionar tudo ao carrinho' }).click()
    await bundle.getByText('Está tudo no seu carrinho.').waitFor()
    await go('/cart')
    await page.locator('[data-cart] th', { hasText: 'R$ 198,00' }).waitFor()
    // Another person of the household pays.
    const number = await checkOut(page, go, 'carlos@example.com')

    const { body: conversions } = await shop.call(listConversions, {
      query: { sourceType: 'stock-notification' },
    })
    expect(conversions.data).toMatchObject([
      { orderNumber: number, channel: 'email', orderTotal: 198, customer: { email: 'carlos@example.com' } },
    ])
    expect((await shop.call(getStockMetrics)).body).toMatchObject({ conversions: 1, revenue: 198 })
    await (await shop.context()).queue(discountsSync, {})
    await app.drainJobs()
    const bundles = async () => (await shop.call(listBundles)).body.data
    await expect.poll(bundles).toMatchObject([{ addsToCart: 1, usageCount: 1 }])
    expect(faults).toEqual([])
  },
)
