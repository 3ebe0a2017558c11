/** The sandbox's shop in a real Chromium, with a store's elements. */
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
    // Headless browsers count as bots.
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
    /** The same shopper on another day, with only what the browser has stored. */
    async comeBack(path = ''): Promise<Page> {
      const next = await settle(await page.context().newPage())
      listen(next)
      for (const each of page.context().pages()) if (each !== next) await each.close()
      await next.goto(`${url}/sandbox/shop/${shop.id}${path}`)
      return next
    },
  }
}

/** The text or name of the focused element, also inside shadow roots. */
export const getFocusedText = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    let found = document.activeElement
    while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement
    return found.name || found.textContent || found.localName
  })()`)

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Our elements violate no rule of WCAG 2.2 AA, by axe. The shop's theme is not ours, but the page is. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([])
}

const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Violated rules with their elements; `besides` WCAG's. */
export async function findViolations(page: Page, besides: readonly string[] = []): Promise<string[]> {
  // The page's policy forbids eval from outside; an isolated world of the debugger may.
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
