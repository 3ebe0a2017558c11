/** A phone with everything on: elements over the page cover at most a quarter of it, and leave it usable. */
import { expect, test } from 'vitest'
import saveActions from '#operations/bars/actions/api/save-settings'
import saveCountdown from '#operations/bars/countdown/api/save-settings'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { demoShop } from '#test/support/demo-shop'
import { everythingOn } from '#test/support/every-element'

const { app, url } = await servedApp()

/**
 * Runs in the page: share of the window's height covered by our elements, and our elements covered by something else.
 */
const covered = `(() => {
  const deepest = (x, y) => {
    let found = document.elementFromPoint(x, y)
    for (let in_ = found; in_?.shadowRoot; ) {
      in_ = in_.shadowRoot.elementFromPoint(x, y)
      if (!in_ || in_ === found) break
      found = in_
    }
    return found
  }
  const hostOf = (each) => each?.getRootNode().host ?? each
  const fixed = '[data-store-spot^=corner], [data-store-spot^=edge]'
  const isFloating = (each) => /sticky|fixed/.test(getComputedStyle(each).position)
  let rows = 0
  for (let y = 2; y < innerHeight; y += 4) {
    const found = []
    for (let x = 4; x < innerWidth; x += 8) found.push(deepest(x, y))
    const ours = found.filter((each) => hostOf(each)?.closest(fixed) && isFloating(hostOf(each).closest(fixed)))
    if (ours.length > 0) rows += 4
  }
  const hidden = []
  const count = {}
  for (const host of document.querySelectorAll(fixed.split(', ').map((each) => each + ' *').join())) {
    for (const each of host.shadowRoot?.querySelectorAll('a, button') ?? []) {
      const { left, top, width, height } = each.getBoundingClientRect()
      // An alert without room is hidden.
      if (width === 0 || top + height < 0 || top > innerHeight || host.matches('[data-waits]') && each.closest('.bubble') || each.closest('.alerts')?.offsetHeight === 0 || each.closest('.alerts')?.getBoundingClientRect().right < left + width / 2) continue
      count[host.localName] = (count[host.localName] ?? 0) + 1
      const found = deepest(left + width / 2, top + height / 2)
      if (!each.contains(found)) hidden.push(host.localName + ' ' + each.textContent + ' ' + [left, top].map(Math.round))
    }
  }
  return { share: rows / innerHeight, hidden, count }
})()`

interface Covered {
  share: number
  hidden: string[]
  count: Record<string, number>
}

test.skipIf(!hasChromium).each([
  [390, 844],
  [375, 667],
])(
  'on a phone of %i × %i, what floats covers at most a quarter of the height, can be clicked, and the rest waits',
  async (width, height) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width: 390 })
    await everythingOn(app, shop)
    for (const operation of [saveActions, saveCountdown, saveFreeShipping])
      expect((await shop.call(operation, { body: { isClosable: true } })).status).toBe(200)
    await serveMedia(page)
    await page.setViewportSize({ width, height })
    const drawn = new Set<string>()
    const look = async (where: string) => {
      await page.waitForTimeout(1500)
      const { share, hidden, count } = await page.evaluate<Covered>(covered)
      for (const tag of Object.keys(count)) drawn.add(tag)
      expect({ where, share, isLittle: share <= 1 / 4, hidden }).toEqual({
        ...{ where, share, isLittle: true, hidden: [] },
      })
      if (process.env.SHOTS)
        await page.screenshot({ path: `${process.env.SHOTS}/${width}${where.replaceAll('/', '-')}.png` })
    }
    for (const path of ['/products/1001', '', '/cart']) {
      await open(path)
      await page.locator('store-messaging-button [part=button]').waitFor()
      await look(path)
      await page.evaluate('scrollTo(0, 300)')
      await look(`${path} scrolled`)
    }
    // Closing what came first leaves room for what waited.
    const alert = page.locator('store-alerts [part=alert]').first()
    await open('/products/1001')
    for (const bar of ['action-bar', 'countdown-bar', 'free-shipping-bar']) {
      await page.locator(`store-${bar} [part=close]`).click({ timeout: 10_000 })
      await look(`without ${bar}`)
    }
    const bubble = page.locator('store-messaging-button:not([data-waits]) .bubble')
    await alert.or(bubble).first().waitFor({ timeout: 10_000 })
    // An alert that waits is there, in a corner without height.
    const isAlertFirst = await page.evaluate(
      `(document.querySelector('[data-store-spot$=passing]')?.offsetHeight ?? 0) > 0`,
    )
    const [first, second] = isAlertFirst ? [alert, bubble] : [bubble, alert]
    await first.getByRole('button').click()
    await second.waitFor({ timeout: 20_000 })
    await look('with what waited')
    expect([...drawn].sort()).toEqual([
      'store-action-bar',
      'store-alerts',
      'store-contact-form',
      'store-countdown-bar',
      'store-free-shipping-bar',
      'store-messaging-button',
      'store-popup',
    ])
    const buy = page.locator('form[data-buy] button')
    await buy.evaluate((each: { scrollIntoView(how: object): void }) =>
      each.scrollIntoView({ block: 'center' }),
    )
    await buy.click()
    await page.locator('form[data-buy] output', { hasText: '✓' }).waitFor()
    expect(faults.filter((fault) => !/Failed to load resource/.test(fault))).toEqual([])
  },
)
