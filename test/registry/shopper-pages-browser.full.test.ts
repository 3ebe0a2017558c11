/**
 * Every page that people open by a link, on a phone: the shopper pages of the registry, and invitations, checkouts
 * and setups. None violates an axe rule, scrolls sideways, is too small to read or press, hides the focus, or lacks
 * input types. `SHOTS=<folder>` saves screenshots.
 */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import startSetup from '#operations/messaging/official/api/start-setup'
import createInvitation from '#operations/store/team/api/create-invitation'
import { given, hand, hidden } from '#test/operations/oauth/assistant'
import { wholeRegistry } from '#test/support/app'
import { declinedCard, openCheckout, pay } from '#test/support/billing'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { findViolations } from '#test/support/demo-shop'
import { cases, formatName, type SeenPage, send, type World, world } from './shopper-pages.ts'

const limits = { storefrontReadsIp: 10_000, storefrontWritesIp: 10_000, storefrontAcceptedIp: 10_000 }
const { app, url } = await servedApp(limits)
const { pages } = await wholeRegistry()

type Answered = (path: string, fields?: Record<string, string>) => Promise<unknown>
const merchant = hand(app)
/** The server's own address differs from the one used for the other pages. */
const ours = { resource: null }
const card = { cardNumber: '1', holder: '', expMonth: '13', expYear: '2031' }
const getPath = (address: string): string => new URL(address).pathname

async function invitationFor(at: World, email: string): Promise<string> {
  expect((await at.shop.call(createInvitation, { body: { email, role: 'member' } })).status).toBe(201)
  await app.drainJobs()
  const [mail] = await at.shop.mails(email)
  return getPath(/http\S+\/invitations\/\S+/.exec(mail!.text)![0])
}
async function createScanPath({ shop }: World): Promise<string> {
  const { body } = await shop.request('POST', '/messaging/session', { body: {} })
  return `/sandbox/messaging/scan/${encodeURIComponent(body.qr.code.payload)}`
}
const setupPath = async ({ shop }: World): Promise<string> =>
  getPath((await shop.call(startSetup)).body.setupUrl)

/** Pages outside the storefront, with their successes and errors. */
const others: Record<string, (at: World, see: Answered) => Promise<unknown>> = {
  'GET /invitations/:token': async (at, see) => see(await invitationFor(at, 'bia@example.com')),
  async 'POST /invitations/:token'(at, see) {
    const path = await invitationFor(at, 'eva@example.com')
    await see(path, { name: ' ' })
    await see(path, { name: 'Eva' })
    await see(path, { name: 'Eva' })
  },
  async 'GET /sandbox/checkout/:id'(at, see) {
    const { path } = await openCheckout(at.shop)
    await see(path)
    expect((await pay(at.shop, path)).status).toBe(303)
    await see(path)
  },
  'POST /sandbox/checkout/:id': async ({ shop }, see) => see((await openCheckout(shop)).path, card),
  async 'GET /billing/return'({ shop }, see) {
    for (const number of [declinedCard, undefined, null]) {
      const { path, providerCheckoutId } = await openCheckout(shop)
      if (number !== null) await pay(shop, path, number)
      await see(`/billing/return?provider=sandbox&ref=${providerCheckoutId}`)
    }
  },
  'GET /sandbox/messaging/scan/:payload': async (at, see) => see(await createScanPath(at)),
  'POST /sandbox/messaging/scan/:payload': async (at, see) =>
    see(await createScanPath(at), { phone: '+5511977776666', name: 'Bia' }),
  'GET /sandbox/messaging/setup/:token': async (at, see) => see(await setupPath(at)),
  'POST /sandbox/messaging/setup/:token': async () => undefined,
  'GET /oauth/authorize': async (_at, see) =>
    see(`/oauth/authorize?${given((await merchant.assistant()).query, ours)}`),
  async 'POST /oauth/authorize'({ shop }, see) {
    const request = await merchant.asked(await merchant.assistant(), ours)
    await see('/oauth/authorize', { request, key: 'mk_live_nonsense' })
    await see('/oauth/authorize', { request, key: shop.key })
  },
  async 'POST /oauth/consent'({ shop }, see) {
    const request = await merchant.asked(await merchant.assistant(), ours)
    const page = await (await ask('/oauth/authorize', { request, key: shop.key })).text()
    await see('/oauth/consent', { consent: hidden(page, 'consent'), decision: 'yes' })
  },
  'GET /messaging/return': async () => undefined,
  'POST /messaging/return': async () => undefined,
}

const ask = (path: string, fields?: Record<string, string>) =>
  app.fetch(
    new Request(`${url}${path}`, {
      method: fields ? 'POST' : 'GET',
      headers: { accept: 'text/html', ...(fields ? { origin: url } : {}) },
      ...(fields ? { body: new URLSearchParams(fields) } : {}),
    }),
    { ip: '127.0.0.1' },
  )

const isPage = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/html') ?? false

/** Stores the answer, so that later changes of the store do not matter. */
const seenPage = async (path: string, response: Response): Promise<SeenPage> => ({
  path,
  status: response.status,
  page: await response.text(),
  headers: Object.fromEntries(response.headers),
})

/** The page's structure without its texts. */
const skeleton = ({ status, page }: SeenPage): string =>
  `${status} ${page
    .replace(/^[\s\S]*<body>/, '')
    .replace(/>[^<]+</g, '><')
    .replace(/ (?:value|href|action|src|style|max)="[^"]*"/g, '')
    .replace(/(<(li|option|dt|dd)[^>]*><\/\2>)+/g, '$1')}`

/** Script that runs in the page and returns layout issues. */
const measureScript = `(() => {
  const faults = []
  const isSeen = (each) => each.checkVisibility() && each.getBoundingClientRect().height > 0
  const nameOf = (each) => each.localName + (each.name ? '[' + each.name + ']' : '') + ' "' + each.textContent.trim().slice(0, 30) + '"'
  const say = (each, fault) => faults.push(nameOf(each) + ': ' + fault)
  for (const each of document.querySelectorAll('body *')) {
    const hasText = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
    const size = parseFloat(getComputedStyle(each).fontSize)
    if (isSeen(each) && (hasText || each.matches('input,select,textarea')) && size < 16) say(each, size + ' px of text')
  }
  const target = (each) => each.matches('[type=radio],[type=checkbox]') ? each.closest('label') ?? each : each
  const isInText = (link) => link.parentElement.textContent.trim() !== link.textContent.trim()
  for (const each of document.querySelectorAll('button,summary,select,textarea,input:not([type=hidden]),a')) {
    if (!isSeen(each) || each.localName === 'a' && isInText(each)) continue
    const { height, width } = target(each).getBoundingClientRect()
    if (height < 44 || width < 44) say(each, Math.round(width) + ' by ' + Math.round(height) + ' px to press')
  }
  const wanted = { email: ['type=email', 'autocomplete=email'], phone: ['type=tel', 'autocomplete=tel'],
    contact: ['inputmode=email', 'autocapitalize=none'], pin: ['inputmode=numeric'], quantity: ['inputmode=numeric'],
    cardNumber: ['inputmode=numeric', 'autocomplete=cc-number'], name: ['autocomplete=name'],
    trackingCode: ['autocapitalize=characters', 'spellcheck=false'], orderNumber: ['autocapitalize=characters', 'spellcheck=false'] }
  for (const each of document.querySelectorAll('input:not([type=hidden],[type=radio],[type=checkbox],[type=file],[disabled])')) {
    if (!isSeen(each)) continue
    if (each.type !== 'number' && !each.autocomplete) say(each, 'no autocomplete')
    for (const one of wanted[each.name.split('.').at(-1)] ?? []) {
      const [name, value] = one.split('=')
      if (each.getAttribute(name) !== value) say(each, 'no ' + one)
    }
  }
  for (const each of document.querySelectorAll('[aria-invalid=true]')) {
    const descriptions = (each.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent)
    if (!descriptions.some(Boolean)) say(each, 'no error text')
  }
  if (document.querySelector('[aria-invalid=true]') && document.activeElement !== document.querySelector('[aria-invalid=true]'))
    faults.push('the focus is not on the invalid field')
  const over = document.documentElement.scrollWidth - innerWidth
  if (over > 0) faults.push(over + ' px too wide')
  return faults
})()`

/** Browsers apply autofocus after the first paint, which may be late on a busy machine. */
const isFocused = `(() => {
  const first = document.querySelector('[autofocus]')
  return !first || document.activeElement === first
})()`

const focused = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  const each = document.activeElement
  return each === document.body ? null : [each.localName + ' ' + each.name, outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2]
})()`

/** Tabs through the page: each focused element must show its focus. */
async function findHiddenFocus(page: Page): Promise<string[]> {
  const found: string[] = []
  for (let n = 0; n < 40; n += 1) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate<[string, boolean] | null>(focused)
    if (!at) break
    if (!at[1]) found.push(`${at[0]}: its focus is not seen`)
  }
  return found
}

let opened: Promise<Page> | null = null
/** A browser page that answers its next request with the stored response. */
async function openPhone(): Promise<Page> {
  opened ??= openPage().then(async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    return page
  })
  return opened
}

async function findIssues({ path, status, page: body, headers }: SeenPage): Promise<string[]> {
  const page = await openPhone()
  const { 'content-length': _, ...kept } = headers
  await page.route('**/*', (route) =>
    route.request().isNavigationRequest() ? route.fulfill({ status, headers: kept, body }) : route.abort(),
  )
  await page.goto(`${url}${path.startsWith('/') ? path : `/${path}`}`)
  await page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true })')
  await expect.poll(() => page.evaluate(isFocused)).toBe(true)
  const faults = await page.evaluate<string[]>(measureScript)
  faults.push(...(await findViolations(page, ['best-practice'])), ...(await findHiddenFocus(page)))
  await page.setViewportSize({ width: 320, height: 568 })
  const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  if (over > 0) faults.push(`${over} px too wide where 320 are there`)
  await page.setViewportSize({ width: 390, height: 844 })
  if (status >= 400 && status !== 404 && status !== 410 && !/role="alert"/.test(body)) faults.push('no alert')
  if (process.env.SHOTS) {
    const name = `${status}-${path
      .replace(/[?].*/, '')
      .replace(/[^a-z]+/gi, '-')
      .slice(-50)}-${skeleton({ path, status, page: body, headers }).length}`
    await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true })
  }
  await page.unroute('**/*')
  return faults
}

const looked = new Set<string>()
async function expectAccessible(seen: SeenPage[]): Promise<void> {
  const found: Record<string, string[]> = {}
  for (const each of seen) {
    const kind = skeleton(each)
    if (looked.has(kind)) continue
    looked.add(kind)
    const faults = await findIssues(each)
    if (faults.length > 0) found[`${each.status} ${each.path}`] = faults
  }
  expect(found).toEqual({})
}

describe.skipIf(!hasChromium)('on a phone', () => {
  /** Store for the pages outside the storefront. */
  let shared: World
  beforeAll(async () => {
    shared = await world(app, 'pt-BR')
  })

  test('every HTML page for people is tested', async () => {
    expect(
      pages
        .filter((each) => each.forPeople)
        .map(formatName)
        .sort(),
    ).toEqual(Object.keys(cases).sort())
    const found: string[] = []
    for (const { method, path } of pages) {
      // The sandbox's page and shop have their own tests; the storefront's pages are in `cases`.
      if (/^\/(storefront|sandbox\/(api|shop))\//.test(path) || path === '/sandbox') continue
      const response = await ask(
        path.replace(/:\w+/g, 'nowhere'),
        method === 'POST'
          ? { phone: '+5511977776666', name: 'Bia', displayName: 'Bia', outcome: 'deny' }
          : undefined,
      )
      if (isPage(response)) found.push(`${method} ${path}`)
    }
    expect(found.sort()).toEqual(Object.keys(others).sort())
  })

  test.each(Object.keys(cases))('%s', async (name) => {
    const seen: SeenPage[] = []
    const at = await world(app, 'pt-BR', (each) => seen.push(each))
    await cases[name]!(at)
    await expectAccessible(seen)
  })

  test.each(Object.keys(others))('%s', async (name) => {
    const [method, path] = name.split(' ') as [string, string]
    const seen: SeenPage[] = []
    const see: Answered = async (address, fields) => {
      const response = await ask(address, fields)
      expect([address, isPage(response)]).toEqual([address, true])
      seen.push(await seenPage(address, response))
    }
    await see(
      path.replace(/:\w+/g, 'nowhere'),
      method === 'POST' ? { openPhone: '+5511977776666', displayName: 'Bia', outcome: 'deny' } : undefined,
    )
    await others[name]!(shared, see)
    await expectAccessible(seen)
  })

  test('an unknown store is an error page everywhere', async () => {
    const response = await send(app, 'nobody', '/exchanges')
    await expectAccessible([await seenPage('/storefront/nobody/exchanges', response)])
  })
})
