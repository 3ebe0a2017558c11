/** Themes with styles for all boxes, or without styles that ours need; and dialogs inside hidden parents. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import saveActions from '#operations/bars/actions/api/save-settings'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import createGuide from '#operations/product-page/size-guides/api/create-guide'
import saveWishlist from '#operations/product-page/wishlist/api/save-settings'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { foreignShop } from '#test/support/foreign-shop'
import { connectedStore } from '#test/support/platform'

const { app, url } = await servedApp()

const picture = '<img src="https://cdn.example.com/a.png" width="300" height="200" alt="">'

async function themed(
  css: string,
  gallery = picture,
): Promise<{ page: Page; faults: string[]; asked: string[] }> {
  const shop = await connectedStore(app, { locale: 'en' })
  await shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 199 } })
  const actions = [{ type: 'link', label: 'Offers', target: '/offers' }]
  await shop.call(saveActions, { body: { isEnabled: true, position: 'bottom', actions } })
  await shop.call(saveWishlist, { body: { isEnabled: true, position: 'image-corner' } })
  const tables = [
    { title: 'Shirts', columns: ['Size', 'Chest'], rows: ['S', 'M'].map((size) => [size, '84-88']) },
  ]
  const guide = { name: 'Sizes', tables, linkText: 'Size guide' }
  expect((await shop.call(createGuide, { body: guide })).status).toBe(201)
  const { page, faults, asked } = await openPage()
  await page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
  await serveMedia(page)
  const html = `<!doctype html><html><head><title>Mug</title><link rel="icon" href="data:,"><style>${css}</style>
    <script async data-page="product" data-product-id="1001" src="${url}/storefront/${shop.publicId}/loader.js"></script>
    </head><body><main><h1>Mug</h1><div class="product-gallery" style="width: 300px">
    ${gallery}</div>
    <div class="tab"><form class="product-form"></form></div>
    <button id="shop" onclick="this.textContent = 'pressed'">Buy</button>
    ${'<p style="margin: 0"><a href="/more" style="display: block; height: 30px">More</a></p>'.repeat(60)}</main></body></html>`
  await page.goto(await foreignShop(() => ({ html })))
  await page.getByText('Free shipping').waitFor()
  return { page, faults, asked }
}

describe.skipIf(!hasChromium)('a theme', () => {
  test('that changes texts all the time, such as a countdown: nothing is placed or requested again; a redrawn part is placed again once', async () => {
    const { page, faults, asked } = await themed('', `${picture}<p class="price">R$ 60</p>`)
    const guide = page.locator('.product-form ~ store-size-guide, store-size-guide:has(~ .product-form)')
    await guide.waitFor({ state: 'attached' })
    await page.waitForTimeout(1000)
    // A pass begins with a search for products that the theme has added.
    await page.evaluate(`
      window.passes = 0
      const { querySelectorAll } = document
      document.querySelectorAll = function (selector) {
        if (selector === '[data-product-id]') passes += 1
        return querySelectorAll.call(this, selector)
      }
      let left = 1000
      setInterval(() => {
        document.querySelector('.price').textContent = 'R$ ' + (left -= 1)
        document.querySelector('#shop').append(' ' + left)
      }, 30)
    `)
    const before = asked.length
    const listRequests = () => asked.slice(before).filter((each) => !each.endsWith('/events'))
    await page.waitForTimeout(900)
    expect(await page.evaluate('passes')).toBe(0)
    expect(listRequests()).toEqual([])

    await page.evaluate(`document.querySelector('.tab').innerHTML = '<form class="product-form"></form>'`)
    await guide.waitFor({ state: 'attached' })
    await page.waitForTimeout(900)
    expect(await page.evaluate('passes')).toBe(1)
    expect(await page.locator('store-size-guide').count()).toBe(1)
    expect(listRequests()).toEqual([])
    expect(faults).toEqual([])
  })

  test('that loads its product form late: what belongs to the form is placed then', async () => {
    const { page, faults } = await themed(
      '',
      `${picture}<script>addEventListener('DOMContentLoaded', () => {
      document.querySelector('.product-form').remove()
    })</script>`,
    )
    await page.waitForTimeout(1000)
    expect(await page.locator('store-size-guide').count()).toBe(0)
    await page.evaluate(`document.querySelector('.tab').innerHTML = '<form class="product-form"></form>'`)
    await page.locator('.tab store-size-guide, store-size-guide:has(~ .tab)').waitFor({ state: 'attached' })
    expect(await page.locator('store-size-guide').count()).toBe(1)
    expect(faults).toEqual([])
  })

  test('that sets height, width and float of all boxes: a bar is as high as its text, and as wide as the page', async () => {
    const { page, faults } = await themed(
      'html, body, body > div { height: 100%; margin: 0 } body > div { float: left; padding: 30px; max-width: 960px }',
    )
    const bar = page.locator('store-free-shipping-bar')
    await bar.waitFor()
    const box = (await bar.boundingBox())!
    const strip = (await page.locator('[data-store-spot^=edge-top]').boundingBox())!
    expect([strip.x, strip.width, strip.height]).toEqual([0, 1280, box.height])
    expect(faults).toEqual([])
  })

  test('with a gallery that is not positioned: the heart is in the corner of the picture, not of the window', async () => {
    const { page } = await themed('')
    const heart = page.locator('store-wishlist-button').getByRole('button')
    await heart.waitFor()
    const [own, its] = [(await heart.boundingBox())!, (await page.locator('main img').boundingBox())!]
    expect(own.x).toBeGreaterThan(its.x)
    expect(own.x + own.width).toBeLessThanOrEqual(its.x + its.width)
    expect(own.y).toBeGreaterThan(its.y)
    expect(own.y + own.height).toBeLessThan(its.y + its.height)
  })

  const mark = '<div data-store-spot="gallery"></div>'
  test.each([
    ['loads its picture late', '', ''],
    ['loads its picture after the mark', '', mark],
    ['has picture and mark in a link', '', `<a href="#big">${picture}${mark}</a>`],
    [
      'is hidden at first',
      '.product-gallery { position: absolute; top: 300px; left: 400px } .product-gallery:not(.shown) { display: none }',
      picture,
    ],
  ])(
    'whose gallery %s: it stays where it was placed, with the heart in its corner',
    async (_, css, inside) => {
      const { page } = await themed(css, inside)
      const host = page.locator('store-wishlist-button')
      await host.waitFor({ state: 'attached' })
      const placed = await page.evaluate<string>(`(() => {
      const gallery = document.querySelector('.product-gallery')
      if (!gallery.querySelector('img')) gallery.insertAdjacentHTML('afterbegin', '${picture}')
      gallery.classList.add('shown')
      return getComputedStyle(gallery).position
    })()`)
      expect(placed).toBe(css ? 'absolute' : 'relative')
      const heart = host.getByRole('button')
      await heart.waitFor()
      const [own, its] = [(await heart.boundingBox())!, (await page.locator('main img').boundingBox())!]
      expect(own.x).toBeGreaterThan(its.x + its.width / 2)
      expect(own.x + own.width).toBeLessThanOrEqual(its.x + its.width)
      expect(own.y).toBeGreaterThan(its.y)
      expect(own.y + own.height).toBeLessThan(its.y + its.height)
    },
  )

  test.each(['Tab', 'Shift+Tab'])(
    'with many links: none reached by %s is below one of our bars',
    async (key) => {
      const { page } = await themed('')
      await page.getByRole('link', { name: 'Offers' }).waitFor()
      await page
        .locator('main a')
        .nth(key === 'Tab' ? 0 : 55)
        .focus()
      const covered: number[] = []
      for (let at = 0; at < 45; at += 1) {
        await page.keyboard.press(key)
        const isCovered = `(() => {
        const { left, top, height } = document.activeElement.getBoundingClientRect()
        return document.elementFromPoint(left + 640, top + height / 2) !== document.activeElement
      })()`
        if (await page.evaluate<boolean>(isCovered)) covered.push(at)
      }
      expect(covered).toEqual([])
    },
  )

  test("that hides a dialog's parent: the page is usable again", async () => {
    const { page } = await themed('.gone { display: none }')
    await page.getByRole('button', { name: 'Size guide' }).click()
    await page.getByRole('dialog').waitFor()
    await page.evaluate(`document.querySelector('.tab').classList.add('gone')`)
    await page.locator('#shop').click({ timeout: 5000 })
    expect(await page.locator('#shop').textContent()).toBe('pressed')
  })

  test('a text selection that ends outside the dialog does not close it; a click outside does', async () => {
    const { page } = await themed('')
    await page.getByRole('button', { name: 'Size guide' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    const heading = (await dialog.getByRole('heading').boundingBox())!
    const { x } = (await dialog.boundingBox())!
    await page.mouse.move(heading.x + 40, heading.y + 8)
    await page.mouse.down()
    await page.mouse.move(x - 30, heading.y + 8, { steps: 5 })
    await page.mouse.up()
    // It would be closed by now.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))')
    expect(await dialog.count()).toBe(1)
    await page.mouse.click(x - 30, heading.y + 8)
    await dialog.waitFor({ state: 'detached' })
  })
})
