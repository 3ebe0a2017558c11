import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { missingScopes } from '#operations/store/ecommerce/shopify/installation/install'
import { Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { frozenClock } from '#test/support/test-clock'
import { shopify } from './shopify.ts'
import { app } from './shopify-stand-in/tokens.ts'

const clock = frozenClock()
let opened: Awaited<ReturnType<typeof shopify>>
beforeEach(async () => {
  opened = await shopify({ clock, app, timeoutMs: 2000 })
})
afterEach(() => opened.standIn.close())

const shop = 'loja.myshopify.com'
const failed = (call: Promise<unknown>) => call.then(() => null).catch((error: unknown) => error)

/** The query with which Shopify returns the owner. */
function answer(changes: Record<string, string> = {}, secret = app.clientSecret): URLSearchParams {
  const timestamp = String(Math.floor(clock.ms() / 1000))
  const query = { code: 'abc', host: 'YWRtaW4=', shop, state: 'store.1.sig', timestamp, ...changes }
  const text = Object.keys(query)
    .sort()
    .map((name) => `${name}=${encodeURIComponent(query[name as keyof typeof query])}`)
    .join('&')
  const hmac = createHmac('sha256', secret).update(text).digest('hex')
  return new URLSearchParams({ ...query, hmac })
}

/** Stores credentials like the store does, for any number of holders; renewals are serialized. */
function createCredentialStore(credentials: unknown) {
  const kept = { credentials }
  let turn: Promise<unknown> = Promise.resolve()
  const hold = (): ProviderStore => ({
    id: 'store',
    credentials: kept.credentials,
    renew(change) {
      const mine = turn.then(async () => {
        kept.credentials = await change(kept.credentials)
        return kept.credentials
      })
      turn = mine.catch(() => undefined)
      return mine
    },
  })
  return { kept, hold }
}

const installed = async () =>
  createCredentialStore(await opened.port.install!.exchange(shop, opened.standIn.desk.agree()))

describe('the way there and back', () => {
  test('the link names app, permissions, state and return address', () => {
    const back = { state: 'a state', returnUrl: 'https://api.example.com/ecommerce/return/shopify' }
    const link = opened.port.install!.link(' LOJA.myshopify.com', back)
    expect(link.shop).toBe(shop)
    const url = new URL(link.url)
    expect(url.origin + url.pathname).toBe(`https://${shop}/admin/oauth/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: app.clientId,
      scope: 'read_products,read_customers,read_orders,write_discounts,read_all_orders',
      redirect_uri: back.returnUrl,
      state: 'a state',
    })
    const elsewhere = () => opened.port.install!.link('evil.example.com/.myshopify.com', back)
    expect(elsewhere).toThrow(expect.objectContaining({ name: 'Refused', code: 'bad-shop' }))
  })

  test('an answer is accepted from Shopify only, for ten minutes', () => {
    const { read } = opened.port.install!
    const query = answer()
    expect(read(query)).toEqual({ shop, code: 'abc' })
    const bad = expect.objectContaining({ code: 'bad-signature' })
    expect(() => read(answer({}, 'another secret'))).toThrow(bad)
    for (const name of ['shop', 'code', 'state', 'timestamp']) {
      const changed = new URLSearchParams(query)
      changed.set(name, 'other.myshopify.com')
      expect(() => read(changed)).toThrow(bad)
    }
    const twice = new URLSearchParams(query)
    twice.append('hmac', query.get('hmac')!)
    expect(() => read(twice)).toThrow(bad)
    expect(() => read(answer({ timestamp: String(clock.ms() / 1000 - 601) }))).toThrow(bad)
    expect(() => read(answer({ shop: 'evil.example.com' }))).toThrow(
      expect.objectContaining({ code: 'bad-shop' }),
    )
    expect(() => read(answer({ code: '' }))).toThrow(expect.objectContaining({ code: 'not-allowed' }))
  })

  test('a code works once; missing permissions are refused and named', async () => {
    const { port, standIn } = opened
    const code = standIn.desk.agree()
    expect(await port.install!.exchange(shop, code)).toMatchObject({ shop, clientId: app.clientId })
    expect(await failed(port.install!.exchange(shop, code))).toMatchObject({ name: 'Refused' })
    const less = standIn.desk.agree(['read_products', 'write_orders', 'write_discounts'])
    expect(await failed(port.install!.exchange(shop, less))).toMatchObject({
      code: 'missing-permission',
      message: expect.stringMatching(/: read_customers is missing/),
    })
    expect(missingScopes(['write_products'], ['read_products', 'write_discounts'])).toEqual([
      'write_discounts',
    ])
  })
})

describe('a token that runs out', () => {
  test('an expiring token is renewed in time and only once, and the newest is stored', async () => {
    const { port, standIn } = opened
    const { kept, hold } = await installed()
    const [one, other] = [hold(), hold()]
    await port.check(one)
    expect(standIn.desk.refreshes).toBe(0)
    clock.advance(56 * 60_000)
    await Promise.all([port.check(one), port.check(other), port.listCategories(other), port.check(hold())])
    expect(standIn.desk.refreshes).toBe(1)
    expect(kept.credentials).toMatchObject({ accessToken: standIn.desk.installation!.accessToken })
    expect(one.credentials).toBe(kept.credentials)
    expect(port.webhookSecret(one)).toBe(app.clientSecret)
  })

  test('a token that another process replaced is not renewed again', async () => {
    const { port, standIn } = opened
    const { hold } = await installed()
    const late = hold()
    clock.advance(56 * 60_000)
    await port.check(hold())
    clock.advance(60_000)
    await port.check(late)
    expect(standIn.desk.refreshes).toBe(1)
  })

  test('a token refused early is renewed; a renewal whose answer is lost is repeated', async () => {
    const { port, standIn } = opened
    const { hold } = await installed()
    standIn.desk.installation!.expiresAt = clock.ms()
    standIn.faults.push({ fits: /access_token/, is: 'late' })
    await port.check(hold())
    expect(standIn.desk.refreshes).toBe(2)
  })

  test('without the app, or after ninety days, access is lost, with a remedy', async () => {
    const { port, standIn } = opened
    const { hold } = await installed()
    const lost = {
      name: 'AccessLost',
      accepted: 'no',
      remedy: expect.stringMatching(/[Cc]onnect the store again/),
    }
    clock.advance(91 * 24 * 3_600_000)
    expect(await failed(port.listCategories(hold()))).toMatchObject({ ...lost, code: 'access-ended' })
    const again = await installed()
    standIn.desk.uninstall()
    expect(await failed(port.listCategories(again.hold()))).toMatchObject({ ...lost, code: 'access-ended' })
    const other = await shopify({ clock })
    expect(await failed(other.port.listCategories(again.hold()))).toMatchObject(lost)
    expect(() => other.port.webhookSecret(again.hold())).toThrow(Unavailable)
    await other.standIn.close()
  })
})
