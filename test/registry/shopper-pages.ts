/** How to reach each shopper page and its errors, for the tests of all of them. */
import { expect } from 'vitest'
import { unsubscribes } from '#operations/capture/index'
import createPreview from '#operations/capture/popup/api/create-preview'
import saveReviewSettings from '#operations/reviews/settings/api/save-settings'
import {
  returnAddress as address,
  type ExchangeShop,
  exchangeShop,
  png,
  someIp,
} from '#test/operations/exchanges/shopper'
import { findToken } from '#test/operations/reviews/shop'
import type { TestApp } from '#test/support/app'

export const formatName = ({ method, path }: { method: string; path: string }) =>
  `${method} ${path.replace('/storefront/:publicId', '')}`

/** Parameters that mail relays, social networks and advertising append to a link, once in an old encoding. */
export const appendedByOthers =
  'utm_source=mail&utm_campaign=caf%E9&utm_content=50%&utm_source=again&fbclid=IwAR0&gclid=x&mc_eid=1&amp;utm_x=1&_'

type Fields = Record<string, string> | FormData
/** Requests a path below the store's, or a URL from a page. With `fields` it submits a form. */
type Send = (path: string, fields?: Fields) => Promise<Response>

export async function send(
  app: TestApp,
  publicId: string,
  path: string,
  fields?: Fields,
  ip = someIp(),
): Promise<Response> {
  const address = path.startsWith('/storefront/') ? path : `/storefront/${publicId}${path}`
  return app.fetch(
    new Request(`http://localhost${address}`, {
      method: fields ? 'POST' : 'GET',
      headers: { accept: 'text/html,application/xhtml+xml' },
      ...(fields ? { body: fields instanceof FormData ? fields : new URLSearchParams(fields) } : {}),
    }),
    { ip },
  )
}

type Order = Awaited<ReturnType<ExchangeShop['delivered']>>

export interface SeenPage {
  path: string
  status: number
  page: string
  headers: Record<string, string>
}

export interface World {
  locale: string
  shop: ExchangeShop
  send: Send
  /** Sends a request, checks status and page, and collects the words. */
  see(status: number, path: string, fields?: Fields): Promise<string>
  /** The page of each word. */
  words: Map<string, string>
}

/** Names from the test, the sandbox or the world, which are not translated. */
const names = [
  'Shop',
  'Caneca',
  'Avental',
  'Azul',
  'Bia',
  'Correios',
  'CEP',
  'PNG',
  'png',
  'JPEG',
  'WebP',
  'HEIC',
  'MiB',
]
const extractTexts = (page: string): string =>
  page
    .replace(/^[\s\S]*<title>/, '<title>')
    .replace(/<style>[\s\S]*?<\/style>/g, ' ')
    .replace(/<[^>]*?(?:placeholder|title|alt|aria-label)="([^"]*)"/g, ' $1 <')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

const extractWords = (page: string): string[] =>
  (extractTexts(page).match(/\p{L}{3,}/gu) ?? []).filter((word) => !names.includes(word))

export function expectPage(
  page: string,
  response: Response,
  at: readonly unknown[],
  status: number,
  lang: string,
) {
  const found = (pattern: RegExp) => page.match(pattern)?.length ?? 0
  expect([
    ...at,
    response.status,
    response.headers.get('content-type'),
    /<html lang="([^"]*)"/.exec(page)?.[1],
    found(/<main[ >]/g),
    found(/<h1[ >]/g),
    found(/<title>[^<]+<\/title>/g),
  ]).toEqual([...at, status, 'text/html; charset=utf-8', lang, 1, 1, 1])
}

/** Calls `seen` with every page. `appended`: parameters that are added to every address. */
export async function world(
  app: TestApp,
  locale: string,
  seen?: (page: SeenPage) => void,
  appended?: string,
): Promise<World> {
  await app.setClock('2026-04-01T12:00:00.000Z')
  const returnAddress = { ...address, recipient: 'Bia', street: 'Bia', city: 'Bia' }
  const shop = await exchangeShop(app, { returnAddress }, { locale })
  const on = { isEnabled: true, autoPublish: { mode: 'all' }, request: { delayDays: 0 } }
  expect((await shop.call(saveReviewSettings, { body: on })).status).toBe(200)
  const words = new Map<string, string>()
  const made: World = {
    locale,
    shop,
    words,
    send: (path, fields) => {
      const query = appended ? `${path.includes('?') ? '&' : '?'}${appended}` : ''
      return send(app, shop.publicId, `${path}${query}`, fields)
    },
    async see(status, path, fields) {
      const response = await made.send(path, fields)
      const page = await response.text()
      expectPage(page, response, [locale, fields ? 'POST' : 'GET', path], status, locale)
      seen?.({ path, status, page, headers: Object.fromEntries(response.headers) })
      for (const word of extractWords(page)) words.set(word.toLowerCase(), path)
      return page
    },
  }
  return made
}

const looking = ({ number }: Order) => ({ orderNumber: number, contact: 'ana@example.com' })
const findHiddenValue = (page: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(page)![1]!

/** Submits an exchange request like a browser, with a photo. */
async function submitRequest(at: World, order: Order, change: Record<string, string> = {}, type = 'return') {
  const found = await (await at.send('/exchanges/lookup', looking(order))).text()
  const fields = new FormData()
  const texts = {
    sessionToken: findHiddenValue(found, 'sessionToken'),
    type,
    'items.0.orderItemId': order.items[0]!.id,
    'items.0.quantity': '1',
    'items.0.reason': 'defective',
    ...(type === 'exchange'
      ? { 'items.0.exchangeForVariantId': '2002' }
      : { refundMethod: 'original-payment' }),
    returnMethod: 'customer-ships',
    acceptedConditions: 'true',
    ...change,
  }
  for (const [name, value] of Object.entries(texts)) if (value !== '') fields.append(name, value)
  return fields
}
const withPhoto = (fields: FormData): FormData => {
  fields.append('photos', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'Bia.png')
  return fields
}
/** URL of the status page of a new request. */
async function createStatusPage(at: World, { autoApprove = false, type = 'return' } = {}): Promise<string> {
  await at.shop.settings({ autoApprove })
  const form = withPhoto(await submitRequest(at, await at.shop.delivered(), {}, type))
  const sent = await at.send('/exchanges/requests', form)
  expect(sent.status).toBe(303)
  return new URL(sent.headers.get('location')!, 'http://localhost').pathname
}
const mailedTo = async (at: World, to: string, path: string): Promise<string> => {
  const mail = (await at.shop.mails(to)).find(({ text }) => text.includes(`${at.shop.publicId}${path}`))
  return encodeURIComponent(findToken(mail!))
}
async function createRequestToken(at: World): Promise<string> {
  await at.shop.app.advance(3_660_000)
  await at.shop.app.drainJobs()
  return mailedTo(at, 'ana@example.com', '/reviews/form')
}
async function createConfirmToken(at: World, email: string): Promise<string> {
  await at.shop.delivered({ customer: { name: 'Bia', email } })
  const body = { productId: '1001', rating: '5', text: 'Bia', name: 'Bia', email }
  expect((await at.send('/reviews', body)).status).toBe(200)
  await at.shop.app.drainJobs()
  return mailedTo(at, email, '/reviews/confirm')
}
async function createUnsubscribeLink(at: World): Promise<string> {
  const { pathname, search } = new URL(
    unsubscribes.buildLink(await at.shop.context(), 'reviews', 'bia@example.com'),
  )
  return pathname + search
}

/** Link of a review request. */
export const reviewLink = async (at: World): Promise<string> =>
  `/storefront/${at.shop.publicId}/reviews/form?token=${await createRequestToken(at)}`

/** The page with the form, by route. */
export const formPages: Record<string, (at: World) => Promise<string>> = {
  'POST /exchanges/lookup': async (at) => at.see(200, '/exchanges'),
  'POST /exchanges/requests': async (at) =>
    at.see(200, '/exchanges/lookup', looking(await at.shop.delivered())),
  'POST /exchanges/requests/:statusToken/shipped': async (at) =>
    at.see(200, await createStatusPage(at, { autoApprove: true })),
  'POST /exchanges/requests/:statusToken/cancel': async (at) => at.see(200, await createStatusPage(at)),
  async 'POST /reviews'(at) {
    await at.shop.delivered()
    return at.see(200, `/reviews/form?token=${await createRequestToken(at)}`)
  },
  'POST /reviews/confirm': async (at) =>
    at.see(200, `/reviews/confirm?token=${await createConfirmToken(at, 'ida@example.com')}`),
  'POST /unsubscribe': async (at) => at.see(200, await createUnsubscribeLink(at)),
}

/** Each page with its successes and its errors, other than an unknown store or link. */
export const cases: Record<string, (at: World) => Promise<unknown>> = {
  async 'GET /exchanges'(at) {
    await at.see(200, '/exchanges')
    await at.shop.settings({ texts: { policy: 'Bia' } })
    await at.see(200, '/exchanges')
  },
  async 'POST /exchanges/lookup'(at) {
    const order = await at.shop.delivered()
    await at.see(200, '/exchanges/lookup', looking(order))
    await at.see(404, '/exchanges/lookup', { ...looking(order), contact: 'eva@example.com' })
    await at.see(400, '/exchanges/lookup', { orderNumber: '1', contact: 'a'.repeat(300) })
    await at.see(400, '/exchanges/lookup', { orderNumber: '1', bia: '1' })
    const ip = someIp()
    const statuses = []
    for (let n = 0; n < 11; n += 1) {
      const last = await send(at.shop.app, at.shop.publicId, '/exchanges/lookup', looking(order), ip)
      statuses.push(last.status)
      if (n < 10) continue
      expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
      expectPage(await last.text(), last, ['often'], 429, at.locale)
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
    // Nothing can be requested.
    await at.shop.change(order, { paymentStatus: 'refunded' })
    await at.see(200, '/exchanges/lookup', looking(order))
  },
  async 'POST /exchanges/requests'(at) {
    const { see } = at
    const path = '/exchanges/requests'
    const order = await at.shop.delivered()
    const form = (change?: Record<string, string>, type?: string) => submitRequest(at, order, change, type)
    await see(400, path, { sessionToken: 'bia', returnMethod: 'customer-ships' })
    await see(400, path, await form())
    await see(400, path, await form({ 'items.0.quantity': '0' }))
    await see(400, path, await form({ 'items.0.quantity': 'bia' }))
    await see(400, path, await form({ 'items.0.reason': 'bia' }))
    await see(400, path, await form({ 'items.0.reason': 'other' }))
    await see(400, path, await form({ 'items.0.orderItemId': 'bia' }))
    await see(400, path, await form({ acceptedConditions: '' }))
    await see(400, path, await form({ refundMethod: 'store-credit' }))
    await see(400, path, await form({ returnMethod: 'drop-off' }))
    await see(400, path, await form({ sessionToken: 'bia.bia.bia' }))
    await see(400, path, withPhoto(await form({ 'items.0.exchangeForVariantId': 'bia' }, 'exchange')))
    await see(400, path, withPhoto(await form({ 'items.0.exchangeForVariantId': '2001' }, 'exchange')))
    const svg = await form()
    svg.append('photos', new Blob(['<svg>'], { type: 'image/png' }), 'Bia.png')
    await see(400, path, svg)
    await see(409, path, withPhoto(await form({ 'items.0.quantity': '3' })))
    const late = withPhoto(await form({ 'items.0.quantity': '2' }))
    expect((await at.send(path, withPhoto(await form()))).status).toBe(303)
    await see(409, path, late)
  },
  async 'GET /exchanges/requests/:statusToken'(at) {
    await at.see(200, await createStatusPage(at))
    await at.see(200, await createStatusPage(at, { autoApprove: true, type: 'exchange' }))
  },
  async 'POST /exchanges/requests/:statusToken/shipped'(at) {
    const page = await createStatusPage(at, { autoApprove: true })
    await at.see(400, `${page}/shipped`, { carrier: 'Correios' })
    const sent = await at.send(`${page}/shipped`, { carrier: 'Correios', trackingCode: '1' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, page])
    await at.see(200, page)
    await at.see(409, `${page}/cancel`, {})
  },
  async 'POST /exchanges/requests/:statusToken/cancel'(at) {
    const page = await createStatusPage(at)
    expect((await at.send(`${page}/cancel`, {})).status).toBe(303)
    await at.see(200, page)
    await at.see(409, `${page}/cancel`, {})
    await at.see(409, `${page}/shipped`, { carrier: 'Correios', trackingCode: '1' })
  },
  async 'GET /reviews/form'(at) {
    await at.shop.delivered()
    const token = await createRequestToken(at)
    await at.see(200, `/reviews/form?token=${token}`)
    const fields = { token: decodeURIComponent(token), productId: '1001', rating: '5', name: 'Bia' }
    await at.see(200, '/reviews', fields)
    await at.see(200, `/reviews/form?token=${token}`)
  },
  async 'POST /reviews'(at) {
    const opinion = { productId: '1001', rating: '5', name: 'Bia', email: 'leo@example.com' }
    await at.see(200, '/reviews', opinion)
    await at.see(409, '/reviews', opinion)
    await at.see(400, '/reviews', { ...opinion, productId: 'bia' })
    await at.see(400, '/reviews', { ...opinion, variantId: 'bia' })
    await at.see(400, '/reviews', { ...opinion, rating: '6' })
    await at.see(400, '/reviews', { ...opinion, name: '' })
    await at.see(400, '/reviews', { ...opinion, email: 'bia' })
    await at.see(400, '/reviews', { ...opinion, token: 'bia' })
    await at.shop.call(saveReviewSettings, { body: { form: { allowWithoutPurchase: false } } })
    await at.see(403, '/reviews', opinion)
    await at.shop.call(saveReviewSettings, { body: { form: { allowWithoutPurchase: true } } })
  },
  async 'GET /reviews/confirm'(at) {
    const path = `/reviews/confirm?token=${await createConfirmToken(at, 'bia@example.com')}`
    await at.see(200, path)
    await at.see(200, path, {})
    await at.see(200, path)
  },
  'POST /reviews/confirm': async (at) =>
    at.see(200, `/reviews/confirm?token=${await createConfirmToken(at, 'eva@example.com')}`, {}),
  'GET /unsubscribe': async (at) => at.see(200, await createUnsubscribeLink(at)),
  'POST /unsubscribe': async (at) => at.see(200, await createUnsubscribeLink(at), {}),
  async 'GET /newsletter/preview'(at) {
    const coupon = { mode: 'shared', code: 'BIA', type: 'percentage', value: 10 }
    const prize = { label: 'Bia', color: '#6366f1', probability: 50, coupon: null }
    const roulette = { enabled: true, prizes: [{ ...prize, coupon }, prize] }
    for (const settings of [{}, { roulette, fields: { name: { enabled: true } } }]) {
      const { status, body } = await at.shop.call(createPreview, { body: { settings } })
      expect([status, body.error]).toEqual([201, undefined])
      const { pathname, search } = new URL(body.hostedUrl)
      await at.see(200, pathname + search)
    }
  },
}
