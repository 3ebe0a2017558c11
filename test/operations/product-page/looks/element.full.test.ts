import { expect, test } from 'vitest'
import listLooks from '#operations/product-page/looks/api/list-looks'
import saveLook from '#operations/product-page/looks/api/save-look'
import saveSettings from '#operations/product-page/looks/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'a look is viewed, opened and bought in one step, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await shop.call(saveSettings, { body: { isEnabled: true, title: 'Complete', buttonText: 'Levar tudo' } })
    const { body: look } = await shop.call(saveLook, {
      body: {
        name: 'Sala',
        imageUrl: 'https://cdn.example.com/look.jpg',
        items: [
          { productId: '1001', variantId: null, quantity: 1, hotspot: { x: 20, y: 30 } },
          { productId: '1002', variantId: '2003', quantity: 2, hotspot: null },
        ],
      },
    })
    await open('/products/1001')
    const shown = page.locator('store-looks')
    await shown.scrollIntoViewIfNeeded()
    await shown.getByRole('heading', { name: 'Sala' }).waitFor()
    await shown.getByRole('button', { name: /Caneca/ }).click()
    await shown.getByLabel('Opção de Caneca').selectOption('2002')
    // The chosen variant's price: 60,00, and twice 100,00.
    await shown.getByText('Total: R$ 260,00').waitFor()
    await expectAccessible(page)
    await page.waitForTimeout(1500)
    // A double click buys it once.
    await shown.getByRole('button', { name: 'Levar tudo' }).dblclick()
    await shown.getByText('Tudo o que você escolheu está no carrinho').waitFor()
    expect(await page.locator('[data-cart-count]').textContent()).toBe('3')

    const counted = async () =>
      (await shop.call(listLooks)).body.data.find(({ id }: { id: string }) => id === look.id)
    await expect.poll(counted).toMatchObject({ impressions: 1, clicks: 1, addsToCart: 1 })
    expect(faults.filter((fault) => !/ERR_NAME_NOT_RESOLVED|Failed to load resource/.test(fault))).toEqual([])
  },
)
