import { expect, test } from 'vitest'
import getAnalytics from '#operations/product-page/wishlist/api/get-analytics'
import saveSettings from '#operations/product-page/wishlist/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'a shopper wishes, leaves a contact, returns and buys, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await shop.call(saveSettings, {
      body: { isEnabled: true, addText: 'Quero', pageTitle: 'Minha lista', showCount: true },
    })

    await open('/products/1002')
    const heart = page.locator('store-wishlist-button').getByRole('button')
    await heart.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail').fill('ana@example.com')
    await dialog.getByRole('checkbox').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Salvar' }).click()
    expect(await heart.getAttribute('aria-pressed')).toBe('true')

    await open('')
    const hearts = page.locator('[data-product-id="1002"] store-wishlist-button').getByRole('button')
    await hearts.waitFor()
    expect(await hearts.getAttribute('aria-pressed')).toBe('true')
    // A page restored by the browser missed the change until it is clicked.
    const forget = `(() => {
      const kept = localStorage.getItem('storefront.wishes')
      localStorage.setItem('storefront.wishes', '[]')
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
      return kept
    })()`
    const kept = await page.evaluate<string>(forget)
    await expect.poll(() => hearts.getAttribute('aria-pressed')).toBe('false')
    await page.evaluate(`localStorage.setItem('storefront.wishes', ${JSON.stringify(kept)})`)
    await hearts.click()
    await expect.poll(() => hearts.getAttribute('aria-pressed')).toBe('true')

    await open('/wishlist')
    const list = page.locator('store-wishlist')
    await list.getByText('Avental').waitFor()
    await expectAccessible(page)
    // A double click buys it once.
    await list.getByRole('button', { name: 'Adicionar ao carrinho' }).dblclick()
    await list.getByText('Avental está no carrinho').waitFor()
    expect(await page.locator('[data-cart-count]').textContent()).toBe('1')
    await list.getByRole('button', { name: 'Remover Avental' }).click()
    await list.getByText('Sua lista de desejos está vazia').waitFor()

    // Another person opens the shared list.
    await page.goto('about:blank')
    await open('/wishlist#wishes=1001,1002')
    await list.getByText('Caneca').waitFor()
    await list.getByRole('button', { name: 'Guardar tudo na minha lista' }).click()

    const totals = async () => (await shop.call(getAnalytics)).body.totals
    await expect
      .poll(totals)
      .toMatchObject({ adds: 3, removes: 1, activeItems: 2, addsToCart: 1, contacts: 1 })
    expect(faults).toEqual([])
  },
)
