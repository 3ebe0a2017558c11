/** The sandbox's shop in a real Chromium: a store's elements as its shoppers meet them. */
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestApp } from './app.ts'
import { openPage } from './browser.ts'
import { connectedStore } from './platform.ts'

export type DemoShop = Awaited<ReturnType<typeof demoShop>>

/** A connected store and a browser at its shop. `width`: of the window, 1280 or 390. */
export async function demoShop(app: TestApp, url: string, options: { width?: number; locale?: string } = {}) {
  const { width = 1280, locale = 'pt-BR' } = options
  const shop = await connectedStore(app, { locale })
  const { page, asked, faults, listen } = await openPage()
  const settle = async (each: Page): Promise<Page> => {
    // Headless browsers are taken for bots.
    await each.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
    await each.setViewportSize({ width, height: width < 768 ? 844 : 800 })
    return each
  }
  await settle(page)
  return {
    shop,
    page,
    asked,
    faults,
    open: (path = '') => page.goto(`${url}/sandbox/shop/${shop.id}${path}`),
    /** The same shopper on another day: the browser knows what it kept, and no more. */
    async comeBack(path = ''): Promise<Page> {
      const next = await settle(await page.context().newPage())
      listen(next)
      for (const each of page.context().pages()) if (each !== next) await each.close()
      await next.goto(`${url}/sandbox/shop/${shop.id}${path}`)
      return next
    },
  }
}

/** The words, or the name, of what has the focus, however deep. */
export const focusedIn = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    let found = document.activeElement
    while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement
    return found.name || found.textContent || found.localName
  })()`)

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Nothing of ours breaks a rule of WCAG 2.2 AA, by axe; the shop around it is not ours, but the page is. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([])
}

const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** The rules that are broken, with what breaks them; `besides` WCAG's. */
export async function violationsOf(page: Page, besides: readonly string[] = []): Promise<string[]> {
  // The page's policy lets nothing be evaluated that came from outside: the debugger's own world may.
  const session = await page.context().newCDPSession(page)
  const { readFile } = await import('node:fs/promises')
  await session.send('Runtime.evaluate', { expression: await readFile(axe, 'utf8') })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ${JSON.stringify([...wcag, ...besides])} })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target, failureSummary }) =>
        target.flat().join(' ') + ' ' + failureSummary).join('; ')))`,
    awaitPromise: true,
    returnByValue: true,
  })
  expect(exceptionDetails).toBeUndefined()
  return result.value
}
