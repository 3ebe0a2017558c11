/** Elements over a product's picture do not cover each other. */
import { expect, test } from 'vitest'
import createSticker from '#operations/product-page/labels/api/create-sticker'
import saveWishlist from '#operations/product-page/wishlist/api/save-settings'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import savePromotions from '#operations/promotions/promotions/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop } from '#test/support/demo-shop'

const { app, url } = await servedApp()
const corners = ['top-left', 'top-right', 'bottom-left', 'bottom-right'] as const

/** Runs in the page: elements over pictures that overlap each other, by their texts. */
const overlapping = `(() => {
  const its = [...document.querySelectorAll('store-stickers, store-promotions[placement=label], store-wishlist-button[placement=corner]')]
    .flatMap((host) => [...host.shadowRoot.querySelectorAll('.sticker, .label, .wish')])
    .map((each) => [each.textContent || each.className, each.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0)
  const pairs = its.flatMap(([said, one], at) => its.slice(at + 1).flatMap(([other, two]) =>
    one.left < two.right && two.left < one.right && one.top < two.bottom - 0.5 && two.top < one.bottom - 0.5
      ? [said + ' and ' + other] : []))
  const pictures = [...document.querySelectorAll('.gallery > :is(img, .nothing), [data-product-id] .image > *')]
    .map((each) => each.getBoundingClientRect())
  const beside = its
    .filter(([, box]) => !pictures.some((one) => one.left <= box.left && box.right <= one.right && one.top <= box.top && box.bottom <= one.bottom))
    .map(([said]) => said)
  return { pairs, beside, count: its.length }
})()`

test.skipIf(!hasChromium).each([1280, 390])(
  'stickers, promotion labels and the heart share each corner without overlapping, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await shop.call(saveWishlist, {
      body: { isEnabled: true, position: 'image-corner', showInProductList: true, showCount: true },
    })
    await shop.call(createPromotion, { body: { name: 'Leve 3', buyQuantity: 3, payQuantity: 2 } })
    const addSticker = async (position: string): Promise<void> => {
      const body = { name: position, kind: 'text', text: position, position }
      expect((await shop.call(createSticker, { body })).status).toBe(201)
    }
    for (const withStickers of [false, true]) {
      if (withStickers) for (const corner of corners) await addSticker(corner)
      for (const labelPosition of corners) {
        await shop.call(savePromotions, { body: { labelPosition, showInProductList: true } })
        for (const path of ['', '/products/1001']) {
          await open(path)
          await page.locator('store-promotions[placement=label]').getByText('3x2').first().waitFor()
          await page.locator('store-wishlist-button[placement=corner]').getByRole('button').first().waitFor()
          if (withStickers) await page.locator('store-stickers').getByText('top-right').first().waitFor()
          const pictures = path === '' ? 2 : 1
          await expect
            .poll(() => page.evaluate(overlapping))
            .toEqual({ pairs: [], beside: [], count: pictures * (withStickers ? 6 : 2) })
        }
      }
    }
    expect(faults).toEqual([])
  },
)
