/** A phone with everything on: elements over the page leave the page usable. */
import { expect, test } from 'vitest'
import { hasChromium, servedApp } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { demoShop } from '#test/support/demo-shop'
import { everythingOn } from '#test/support/every-element'

const { app, url } = await servedApp()

/**
 * Runs in the page: shares of the window's height covered by our elements, and our elements covered by something else.
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
  const rows = { staying: 0, all: 0 }
  for (let y = 2; y < innerHeight; y += 4) {
    const found = []
    for (let x = 4; x < innerWidth; x += 8) found.push(deepest(x, y))
    const ours = found.filter((each) => hostOf(each)?.closest(fixed))
    if (ours.length > 0) rows.all += 4
    if (ours.some((each) => hostOf(each).localName !== 'store-alerts' && !each.closest('.bubble'))) rows.staying += 4
  }
  const hidden = []
  const count = {}
  for (const host of document.querySelectorAll(fixed.split(', ').map((each) => each + ' *').join())) {
    for (const each of host.shadowRoot?.querySelectorAll('a, button') ?? []) {
      const { left, top, width, height } = each.getBoundingClientRect()
      // An alert without room is hidden.
      if (width === 0 || each.closest('.alerts')?.getBoundingClientRect().right < left + width / 2) continue
      count[host.localName] = (count[host.localName] ?? 0) + 1
      const found = deepest(left + width / 2, top + height / 2)
      if (!each.contains(found)) hidden.push(host.localName + ' ' + each.textContent + ' ' + [left, top].map(Math.round))
    }
  }
  return { staying: rows.staying / innerHeight, all: rows.all / innerHeight, hidden, count }
})()`

interface Covered {
  staying: number
  all: number
  hidden: string[]
  count: Record<string, number>
}

test.skipIf(!hasChromium)(
  'lasting elements cover at most a third of the height, with temporary ones three fifths, and each can be clicked',
  async () => {
    const { shop, page, open, faults } = await demoShop(app, url, { width: 390 })
    await everythingOn(app, shop)
    await serveMedia(page)
    for (const path of ['/products/1001', '', '/cart']) {
      await open(path)
      await page.getByText('Posso ajudar?').waitFor()
      await page.locator('store-alerts [part=alert]').first().waitFor()
      await page.waitForTimeout(500)
      const { staying, all, hidden, count } = await page.evaluate<Covered>(covered)
      const isLittle = staying <= 1 / 3 && all <= 3 / 5
      expect({ path, staying, all, isLittle, hidden }).toEqual({
        path,
        staying,
        all,
        isLittle: true,
        hidden: [],
      })
      expect(Object.keys(count).sort()).toEqual([
        'store-action-bar',
        'store-alerts',
        'store-contact-form',
        'store-countdown-bar',
        'store-messaging-button',
        'store-popup',
      ])
    }
    await open('/products/1001')
    await page.getByText('Posso ajudar?').waitFor()
    const buy = page.locator('form[data-buy] button')
    await buy.evaluate((each: { scrollIntoView(how: object): void }) =>
      each.scrollIntoView({ block: 'center' }),
    )
    await buy.click()
    await page.locator('form[data-buy] output', { hasText: '✓' }).waitFor()
    expect(faults.filter((fault) => !/Failed to load resource/.test(fault))).toEqual([])
  },
)
