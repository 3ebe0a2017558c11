/** Themes and browsers with unusual colours: default colours are readable on any background. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import saveInstallments from '#operations/promotions/installments/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { everythingOn } from '#test/support/every-element'
import { renderPage, seeAll, visitor } from '#test/support/foreign-page'
import { foreignShop } from '#test/support/foreign-shop'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const { app, url } = await servedApp()

const full: ConnectedShop = await connectedStore(app, { locale: 'en' })
if (hasChromium) await everythingOn(app, full)
const fullLoader = `${url}/storefront/${full.publicId}/loader.js`

/** Runs in the page: our texts in its flow with too little contrast to their background. */
const hardlyRead = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const partsOf = (colour) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const luminance = ([r, g, b]) => {
    const [red, green, blue] = [r, g, b].map((part) => part / 255).map((share) => share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const groundOf = (each) => {
    for (let at = each; at; at = at.parentElement ?? at.getRootNode().host) {
      const parts = partsOf(getComputedStyle(at).backgroundColor)
      if (parts[3] === 255) return parts
    }
    return [255, 255, 255]
  }
  const found = []
  const tags = ['store-content-blocks', 'store-installments', 'store-featured-price', 'store-stock-counter', 'store-looks',
    'store-bundles', 'store-reviews', 'store-promotions', 'store-size-guide', 'store-cart-gifts', 'store-video-slider']
  for (const host of document.querySelectorAll(tags.join())) {
    for (const each of host.shadowRoot?.querySelectorAll('*') ?? []) {
      const isText = [...each.childNodes].some((node) => node.nodeType === 3 && /\\w/.test(node.data))
      if (!isText || !each.checkVisibility() || each.closest('[aria-hidden=true], .hidden')) continue
      const [one, other] = [partsOf(getComputedStyle(each).color), groundOf(each)].map(luminance).sort((a, b) => b - a)
      const contrast = (one + 0.05) / (other + 0.05)
      if (contrast < 4.5) found.push(host.localName + ': ' + each.textContent.slice(0, 30) + ' ' + contrast.toFixed(1))
    }
  }
  return found
})()`

describe.skipIf(!hasChromium)('a dark theme', () => {
  const look = async (css: string): Promise<{ page: Page; faults: string[] }> => {
    const { page, faults } = await visitor()
    const site = await foreignShop((path) => ({ html: renderPage(path, { loader: fullLoader, css }) }))
    await page.goto(`${site}/products/1001`)
    await page.evaluate(seeAll)
    await page.locator('store-reviews').getByText('Customer reviews').waitFor()
    return { page, faults }
  }
  const line = 'store-installments:not([placement=card]) [part=text]'

  test.each([
    ['light', 'body { background: #fff; color: #222 }'],
    ['dark', 'body { background: #111; color: #eee }'],
    ['with new colour functions', 'body { background: oklch(0.2 0.02 260); color: oklch(0.95 0.01 260) }'],
  ])('(%s) can be read where nobody chose a colour', async (_name, css) => {
    const { page, faults } = await look(css)
    expect(await page.evaluate(hardlyRead)).toEqual([])
    expect(faults.filter((fault) => !/Failed to load resource/.test(fault))).toEqual([])
  })

  test('a colour chosen by the merchant stays', async () => {
    await full.call(saveInstallments, { body: { textColor: '#445566' } })
    const { page } = await look('body { background: #111; color: #eee }')
    await expect(
      page
        .locator(line)
        .evaluate(
          (each) =>
            (globalThis as never as { getComputedStyle(of: unknown): { color: string } }).getComputedStyle(
              each,
            ).color,
        ),
    ).resolves.toBe('rgb(68, 85, 102)')
  })
})

test.skipIf(!hasChromium)(
  'with forced colours, buttons, bars, bubbles, dialogs and fields have visible edges',
  async () => {
    const { page } = await visitor({ forcedColors: 'active' })
    const site = await foreignShop((path) => ({ html: renderPage(path, { loader: fullLoader }) }))
    await page.goto(`${site}/other`)
    await page.locator('store-messaging-button [part~=button]').waitFor()
    await page.locator('store-free-shipping-bar [part~=bar]').waitFor()
    // The popup listens once its own module has loaded.
    await expect
      .poll(async () => {
        await page.evaluate(`document.dispatchEvent(new CustomEvent('storefront:open-popup'))`)
        return page.getByRole('dialog').isVisible()
      })
      .toBe(true)
    const bare = `[...document.querySelectorAll('*')].flatMap((host) =>
      [...host.shadowRoot?.querySelectorAll('button, dialog, .bar, .bubble') ?? []].filter((each) => {
        const { outlineStyle, borderTopStyle, borderTopWidth } = getComputedStyle(each)
        return outlineStyle === 'none' && (borderTopStyle === 'none' || borderTopWidth === '0px')
      }).map((each) => host.localName + ' ' + each.className))`
    expect(await page.evaluate(bare)).toEqual([])
    const field = page.getByRole('dialog').locator('input[type=email]')
    const placeholder = await field.evaluate(
      (each) =>
        (
          globalThis as never as { getComputedStyle(of: unknown, part: string): { opacity: string } }
        ).getComputedStyle(each, '::placeholder').opacity,
    )
    expect(placeholder).toBe('0')
  },
)
