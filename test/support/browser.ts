/** A real headless Chromium against the real server. Its tests are skipped if none is installed. */
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { type TestApp, testApp } from './app.ts'
import { whenFileEnds } from './closing.ts'
import { isFullSuite } from './suite.ts'
import { testsBeginAt } from './test-clock.ts'

/** The headless shell first: it renders the same in half the CPU time, without a browser window. */
const chromiums = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const chromiumPath = process.env.CHROMIUM ?? chromiums.find((path) => existsSync(path))
/**
 * `.ci/run` sets CHROMIUM: then a missing browser is an error. Pages are the same on both databases, so browser tests,
 * which are the slowest, run only with the embedded one.
 */
export const hasChromium = isFullSuite && chromiumPath !== undefined

/** The server on its own free port, which its links point to. */
export async function servedApp(
  settings: Parameters<typeof testApp>[0] = {},
): Promise<{ app: TestApp; url: string }> {
  let app: TestApp | null = null
  const server = createAdaptorServer({ fetch: (request, env) => app!.fetch(request, env as never) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenFileEnds(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    // Browsers keep idle connections open, which `close` would wait for.
    if ('closeAllConnections' in server) server.closeAllConnections()
    await closed
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  app = await testApp({ publicUrl: url, ...settings })
  return { app, url }
}

export interface OpenedPage {
  page: Page
  asked: string[]
  faults: string[]
  /** Listens to another page of the same profile, too. */
  listen(page: Page): void
}

let launched: Promise<Browser> | null = null

/** Shared by all test files of a process and closed at its end: a start costs more than most tests. */
async function theBrowser(): Promise<Browser> {
  const known = await launched
  if (known?.isConnected()) return known
  launched = chromium.launch({
    executablePath: chromiumPath!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  return launched
}

/** A page in its own profile, its requests to other hosts, and its errors. */
export async function openPage(options: BrowserContextOptions = {}): Promise<OpenedPage> {
  const browser = await theBrowser()
  const context = await browser.newContext(options)
  whenFileEnds(() => context.close())
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  // Starts on the server's day, and runs on from there.
  await context.clock.setSystemTime(testsBeginAt)
  const asked: string[] = []
  const faults: string[] = []
  const listen = (each: Page): void => {
    each.on('request', (request) => asked.push(request.url()))
    each.on('pageerror', (error) => faults.push(error.message))
    each.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text())
    })
  }
  listen(page)
  return { page, asked, faults, listen }
}

/** Counts the layout shifts of each page that is opened from now on: the reader returns the sum since its start. */
export async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(`
    window.shifts = 0
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts += value
    }).observe({ type: 'layout-shift', buffered: true })`)
  return () => page.evaluate<number>('shifts')
}
