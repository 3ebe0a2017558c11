/** The sandbox's shop as a page: headings, landmarks, print, and pages without a chat. */
import { expect, test } from 'vitest'
import saveActions from '#operations/bars/actions/api/save-settings'
import updateButton from '#operations/messaging/button/api/update-button'
import { hasChromium, servedApp } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { demoShop, findViolations } from '#test/support/demo-shop'
import { everythingOn } from '#test/support/every-element'

const { app, url } = await servedApp()

/** Runs in the page: levels of its headings, in the order of reading, through shadow roots. */
const readHeadings = `(() => {
  const levels = []
  const visit = (each) => {
    if (/^h[1-6]$/.test(each.localName) && each.checkVisibility()) levels.push(Number(each.localName[1]))
    for (const child of (each.shadowRoot ?? each).children) visit(child)
  }
  visit(document.body)
  return levels
})()`
/** Runs in the page: the elements that are visible. */
const readShown = `[...document.querySelectorAll('*')].flatMap(({ localName, shadowRoot }) =>
  [...shadowRoot?.querySelectorAll('*') ?? []].some((each) => each.checkVisibility() && each.offsetHeight > 0) ? [localName] : [])`

test.skipIf(!hasChromium)(
  'each page has one main heading, ordered levels and landmarks; what floats is not printed; a chat may be excluded',
  async () => {
    const { shop, page, open } = await demoShop(app, url, { width: 390 })
    await everythingOn(app, shop)
    await serveMedia(page)
    const { body } = await shop.request('GET', '/messaging-button')
    const change = { pageMode: 'exclude', pagePatterns: ['/checkout*'] }
    expect(
      (await shop.call(updateButton, { params: { messagingButtonId: body.id }, body: change })).status,
    ).toBe(200)
    const chat = page.locator('store-messaging-button [part=button]')
    for (const path of [
      '',
      '/categories/301',
      '/products/1001',
      '/cart',
      '/checkout',
      '/wishlist',
      '/contact',
    ]) {
      await open(path)
      await page.locator('store-action-bar [part=bar]').waitFor()
      await page.waitForTimeout(1500)
      const levels = await page.evaluate<number[]>(readHeadings)
      const skips = levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1)
      expect({ path, levels, ones: levels.filter((level) => level === 1), skips }).toEqual({
        ...{ path, levels, ones: [1], skips: [] },
      })
      for (const each of ['main', 'body > header', 'body > footer'])
        expect([path, each, await page.locator(each).count()]).toEqual([path, each, 1])
      const nameless = (await page.locator('nav').all()).map((each) => each.getAttribute('aria-label'))
      expect(await Promise.all(nameless)).not.toContain(null)
      expect([path, await findViolations(page, ['best-practice'])]).toEqual([path, []])
      expect([path, await chat.count()]).toEqual([path, path === '/checkout' ? 0 : 1])
    }
    await open('/products/1001')
    await chat.waitFor()
    await page.locator('store-reviews').scrollIntoViewIfNeeded()
    await page.locator('store-reviews h2').first().waitFor()
    await page.emulateMedia({ media: 'print' })
    const shown = await page.evaluate<string[]>(readShown)
    for (const tag of [
      'store-messaging-button',
      'store-action-bar',
      'store-popup',
      'store-alerts',
      'store-contact-form',
    ])
      expect(shown).not.toContain(tag)
    expect(shown).toEqual(expect.arrayContaining(['store-reviews', 'store-featured-price']))
  },
)

test.skipIf(!hasChromium).each(['ltr', 'rtl'])(
  'the icon of an action is before its label, with a gap, %s',
  async (dir) => {
    const { shop, page, open } = await demoShop(app, url, { width: 390 })
    const actions = [{ type: 'link', label: 'Ofertas', icon: 'tag', target: '/ofertas' }]
    expect((await shop.call(saveActions, { body: { isEnabled: true, actions } })).status).toBe(200)
    await page.route('**/sandbox/shop/**', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace('<html', `<html dir="${dir}"`) })
    })
    await open()
    const action = page.locator('store-action-bar [part=action]')
    await action.waitFor()
    const gap = await page.evaluate<number>(
      `(() => {
        const each = document.querySelector('store-action-bar').shadowRoot.querySelector('.action')
        const words = document.createRange()
        words.selectNodeContents([...each.childNodes].find(({ nodeType }) => nodeType === 3))
        const [icon, text] = [each.querySelector('svg').getBoundingClientRect(), words.getBoundingClientRect()]
        return getComputedStyle(each).direction === 'rtl' ? icon.left - text.right : text.left - icon.right
      })()`,
    )
    expect(gap).toBeCloseTo(6, 0)
  },
)
