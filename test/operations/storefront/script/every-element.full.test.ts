/** Every registered element, in a shop with all of them on: a new element must be visited here, or this test fails. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { hasChromium, servedApp } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { demoShop, findViolations } from '#test/support/demo-shop'
import { everythingOn } from '#test/support/every-element'

const { app, url } = await servedApp()
const { elements } = app.services.extensions
/** Elements that a theme places by hand are in the shop's header here, unless they have a page of their own. */
const byHand = elements.flatMap(({ tag, pages }) => (pages ? [] : [tag]))

/** Runs in the page: problems of the drawn elements in words, and the tags of elements that show something. */
const look = `(() => {
  const wide = document.documentElement.clientWidth
  const wrong = new Set()
  const drawn = new Set()
  const named = (host, each) => host.localName + ' ' + each.localName + '.' + (each.getAttribute('class') ?? '') +
    ' ' + (each.getAttribute('part') ?? '') + ' ' + each.textContent.trim().slice(0, 30)
  const above = (each) => each.parentElement ?? each.getRootNode().host ?? null
  const isClipped = (each) => {
    for (let one = above(each); one && one !== document.body; one = above(one))
      if (getComputedStyle(one).overflowX !== 'visible') return true
    return false
  }
  if (document.documentElement.scrollWidth > wide) wrong.add('The page scrolls sideways')
  for (const host of document.querySelectorAll('*')) {
    if (!host.localName.startsWith('store-') || !host.shadowRoot) continue
    for (const each of host.shadowRoot.querySelectorAll('*')) {
      const box = each.getBoundingClientRect()
      const style = getComputedStyle(each)
      // Content for screen readers or bots alone is not visible.
      if (box.width === 0 || box.height === 0 || style.visibility === 'hidden' || style.clipPath !== 'none' || each.closest('.hidden, [aria-hidden=true], details:not([open]) > :not(summary)')) continue
      drawn.add(host.localName)
      const say = (what) => wrong.add(what + ': ' + named(host, each) + ' ' + [box.left, box.right, box.width, box.height].map(Math.round))
      if ((box.left < -0.5 || box.right > wide + 0.5) && !isClipped(each)) say('out of the window')
      const isText = [...each.childNodes].some((one) => one.nodeType === 3 && one.data.trim())
      if (isText && style.textOverflow !== 'ellipsis' && ['hidden', 'clip'].includes(style.overflowX) && each.scrollWidth > each.clientWidth + 1) say('cut off')
      const svg = each.ownerSVGElement
      if (svg && each.localName === 'text') {
        const round = svg.getBoundingClientRect()
        if (box.left < round.left || box.right > round.right || box.top < round.top || box.bottom > round.bottom) say('beyond its drawing')
      }
      if (!each.matches('a[href], button, input, select, textarea, summary, [role=button]')) continue
      if (style.display === 'inline' && each.localName === 'a') continue
      const target = (each.localName === 'input' && each.closest('label') || each).getBoundingClientRect()
      if (target.width < 23.5 || target.height < 23.5) say('too small to press')
    }
  }
  return { wrong: [...wrong], drawn: [...drawn] }
})()`

/** Positions, current motion, and motion that could start. */
const motion = `(() => {
  const boxes = {}
  const moving = document.getAnimations().map((each) => each.animationName ?? each.transitionProperty)
  for (const host of document.querySelectorAll('*')) {
    if (!host.localName.startsWith('store-') || !host.shadowRoot) continue
    moving.push(...host.shadowRoot.getAnimations().map(() => host.localName))
    let at = 0
    for (const each of host.shadowRoot.querySelectorAll('*')) {
      const { left, top, width, height } = each.getBoundingClientRect()
      boxes[host.localName + ' ' + each.localName + ' ' + (at += 1)] = [left, top + scrollY, width, height].map(Math.round).join()
      if (each.localName === 'video' && !each.paused) moving.push(host.localName + ' plays')
      if (getComputedStyle(each).scrollBehavior === 'smooth') moving.push(host.localName + ' scrolls smoothly')
    }
  }
  return { boxes, moving }
})()`

const press = (each: { click(): void }) => each.click()

interface Looked {
  wrong: string[]
  drawn: string[]
}
interface Motion {
  boxes: Record<string, string>
  moving: string[]
}

/** Number of pending responses of a page. */
function countPending(page: Page): () => number {
  let waiting = 0
  page.on('request', () => {
    waiting += 1
  })
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', () => {
      waiting -= 1
    })
  return () => waiting
}

/** The whole page has been near the viewport, including late content, and all requests are answered. */
async function waitUntilIdle(page: Page, waiting: () => number): Promise<void> {
  const walk = `(async () => {
    for (const tag of ${JSON.stringify(byHand)})
      if (!document.querySelector(tag)) document.querySelector('header').append(document.createElement(tag))
    const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)))
    for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
      scrollTo(0, y)
      await painted()
    }
    scrollTo(0, 0)
    await painted()
    return [...document.querySelectorAll('*')].reduce((sum, { shadowRoot }) =>
      sum + (shadowRoot?.querySelectorAll('*').length ?? 0), 0)
  })()`
  // Until nothing is pending, and half a second has brought nothing more.
  for (let before = -1; ; ) {
    const now = await page.evaluate<number>(walk)
    if (now === before && waiting() <= 0) break
    before = now
    await page.waitForTimeout(600)
  }
}

const paths = ['', '/categories/301', '/products/1001', '/products/1003', '/cart', '/wishlist', '/contact']

test.skipIf(!hasChromium).each(['ltr', 'rtl'])(
  'every element fits a window of 320 pixels, is clickable, readable and calm, %s',
  async (dir) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width: 390 })
    await everythingOn(app, shop)
    await serveMedia(page)
    const waiting = countPending(page)
    await page.setViewportSize({ width: 320, height: 720 })
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.route('**/sandbox/shop/**', async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace('<html', `<html dir="${dir}"`)
      await route.fulfill({ response, body })
    })
    const cart = { lines: [{ variantId: '2001', quantity: 2 }], code: null }
    await open('/contact')
    await page.evaluate(
      `localStorage.setItem('shop.${shop.slug}', ${JSON.stringify(JSON.stringify(cart))})
      localStorage.setItem('storefront.wishes', '[{"productId":"1002"}]')`,
    )
    const drawn = new Set<string>()
    const wrong: string[] = []
    const opened = new Set<string>()
    const lookAt = async (where: string) => {
      const found = await page.evaluate<Looked>(look)
      for (const tag of found.drawn) drawn.add(tag)
      found.wrong.push(...(await findViolations(page)))
      wrong.push(...found.wrong.map((each) => `${where}: ${each}`))
    }
    for (const path of paths) {
      await open(path)
      await waitUntilIdle(page, waiting)
      const before = await page.evaluate<Motion>(motion)
      await page.waitForTimeout(1500)
      const after = await page.evaluate<Motion>(motion)
      for (const each of [...before.moving, ...after.moving]) wrong.push(`${path}: moves: ${each}`)
      // Later content is not compared; existing content must not have moved.
      const moved = Object.keys(before.boxes).filter(
        (name) => name in after.boxes && after.boxes[name] !== before.boxes[name],
      )
      wrong.push(
        ...moved.map((name) => `${path}: was moved: ${name} ${before.boxes[name]} ${after.boxes[name]}`),
      )
      await lookAt(path)
      for (const opener of await page.locator('[aria-haspopup=dialog]:visible, .teaser').all()) {
        const words = (await opener.textContent())!
        if (opened.has(words)) continue
        opened.add(words)
        const name = `${path} ${words}`
        // A corner element may cover it: a shopper would scroll, the test clicks all the same.
        await opener.evaluate(press)
        await page.locator('dialog[open]').waitFor()
        await lookAt(name)
        await page.keyboard.press('Escape')
        await page.locator('dialog[open]').waitFor({ state: 'detached' })
      }
    }
    expect(wrong).toEqual([])
    expect(elements.flatMap(({ tag }) => (drawn.has(tag) ? [] : [tag]))).toEqual([])
    expect(faults.filter((fault) => !/Failed to load resource/.test(fault))).toEqual([])
  },
)

/** Runs in the page: every text of an element becomes a word of 40 letters. */
const lengthen = `(() => {
  const roots = [...document.querySelectorAll('*')].filter(({ localName, shadowRoot }) => localName.startsWith('store-') && shadowRoot)
  for (const { shadowRoot } of roots) {
    const texts = document.createTreeWalker(shadowRoot, NodeFilter.SHOW_TEXT)
    while (texts.nextNode())
      if (/\\p{L}{3}/u.test(texts.currentNode.data) && !texts.currentNode.parentElement.closest('style, svg'))
        texts.currentNode.data = 'Donaudampfschifffahrtselektrizitätenhaupt'
  }
})()`

test.skipIf(!hasChromium)('a word of 40 letters in any text makes no page wider than a phone', async () => {
  const { shop, page, open } = await demoShop(app, url, { width: 390 })
  await everythingOn(app, shop)
  await serveMedia(page)
  const waiting = countPending(page)
  const wrong: string[] = []
  const drawn = new Set<string>()
  const opened = new Set<string>()
  const lookAt = async (where: string) => {
    await page.evaluate(lengthen)
    await page.waitForTimeout(200)
    const found = await page.evaluate<Looked>(look)
    for (const tag of found.drawn) drawn.add(tag)
    wrong.push(...found.wrong.map((each) => `${where}: ${each}`))
    if (process.env.SHOTS)
      await page.screenshot({
        ...{ path: `${process.env.SHOTS}/long${where.replaceAll(/\W+/g, '-')}.png`, fullPage: true },
      })
  }
  for (const path of paths) {
    await open(path)
    await waitUntilIdle(page, waiting)
    for (const opener of await page.locator('[aria-haspopup=dialog]:visible, .teaser').all()) {
      const words = (await opener.textContent())!
      if (opened.has(words)) continue
      opened.add(words)
      await opener.evaluate(press)
      await page.locator('dialog[open]').waitFor()
      await lookAt(`${path} ${words}`)
      await page.keyboard.press('Escape')
      await page.locator('dialog[open]').waitFor({ state: 'detached' })
    }
    await lookAt(path)
  }
  expect(wrong).toEqual([])
  expect(elements.flatMap(({ tag }) => (drawn.has(tag) ? [] : [tag]))).toEqual([])
})
