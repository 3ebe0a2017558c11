import pino from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/app'
import {
  billingEvents,
  chargedBackCard,
  declinedCard,
  declinesLaterCard,
  goodCard,
  openCheckout,
  pay,
  sandboxBillingOfShop,
  visit,
} from '#test/support/billing'
import { store } from '#test/support/store'

const lines: string[] = []
let app: TestApp
beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  app = await testApp({}, { log })
  await app.setClock('2026-11-20T12:00:00.000Z')
})

describe('GET {checkoutUrl}', () => {
  test('shows plan, amount and a labelled form, and loads nothing external', async () => {
    const shop = await store(app, { plan: null })
    const { path } = await openCheckout(shop, { coupon: 'WELCOME10' })
    const answer = await visit(shop, path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const html = await answer.text()
    for (const text of ['Growth, monthly', 'R$224.10', 'R$249.00 a month', 'WELCOME10', 'Pay R$224.10']) {
      expect(html).toContain(text)
    }
    for (const field of ['cardNumber', 'holder', 'expMonth', 'expYear']) {
      expect(html).toContain(`<label for="${field}">`)
      expect(html).toMatch(new RegExp(`<input id="${field}" name="${field}" required [^>]*autocomplete="cc-`))
    }
    expect(html).toContain('lang="en"')
    expect(html).not.toMatch(/https?:|<script|src=|url\(/)
  })

  test('asks only for a card when nothing is due now', async () => {
    const shop = await store(app, { plan: null })
    const later = { firstAmount: '0.00', amount: '99.00', startsAt: '2026-12-01T00:00:00.000Z' }
    const { path } = await openCheckout(shop, later)
    const html = await (await visit(shop, path)).text()
    expect(html).toContain('R$99.00 a month, from 2026-12-01')
    expect(html).toContain('<button>Save the card</button>')
  })

  test('answers 404 for an unknown checkout', async () => {
    const shop = await store(app, { plan: null })
    expect((await visit(shop, '/sandbox/checkout/sa_unknown')).status).toBe(404)
    expect((await pay(shop, '/sandbox/checkout/sa_unknown')).status).toBe(404)
  })

  test('answers 410 after 24 hours, once cancelled, and once submitted', async () => {
    const shop = await store(app, { plan: null })
    const cancelled = await openCheckout(shop)
    await sandboxBillingOfShop(shop).cancelCheckout(cancelled.providerCheckoutId)
    const declined = await openCheckout(shop)
    await pay(shop, declined.path, declinedCard)
    for (const { path } of [cancelled, declined]) {
      expect((await visit(shop, path)).status).toBe(410)
      expect((await pay(shop, path)).status).toBe(410)
    }
  })
})

describe('POST {checkoutUrl}', () => {
  test('a good card redirects to the return page with the result already applied', async () => {
    const shop = await store(app, { plan: null })
    const { path, checkoutId, providerCheckoutId } = await openCheckout(shop)
    const answer = await pay(shop, path)
    expect(answer.status).toBe(303)
    const [event, ...others] = await billingEvents(shop)
    expect(others).toEqual([])
    expect(event!.applied_at).not.toBeNull()
    expect(event).toMatchObject({
      kind: 'checkout',
      payload: {
        data: {
          agreementId: providerCheckoutId,
          checkoutId,
          outcome: 'approved',
          payment: { status: 'approved', amount: '224.10', paymentMethod: { brand: 'visa', last4: '4242' } },
        },
      },
    })
    expect((await visit(shop, path)).status).toBe(410)
    const location = answer.headers.get('location')!
    expect(location).toMatch(/\/billing\/return\?/)
    for (let time = 0; time < 2; time += 1) {
      const page = await visit(shop, location)
      expect([page.status, await page.text()]).toEqual([
        200,
        expect.stringContaining('The payment went through'),
      ])
    }
    await app.drainJobs()
    expect(await billingEvents(shop)).toHaveLength(1)
  })

  test('a declined card redirects to the return page, which says so', async () => {
    const shop = await store(app, { plan: null })
    const { path } = await openCheckout(shop)
    const answer = await pay(shop, path, declinedCard)
    expect(answer.status).toBe(303)
    expect(await (await visit(shop, answer.headers.get('location')!)).text()).toContain('declined')
  })

  test('an invalid form is shown again without the card number', async () => {
    const shop = await store(app, { plan: null })
    const { path } = await openCheckout(shop)
    const form = { cardNumber: '4111111111111111', holder: '<b>"Ana"', expMonth: '13', expYear: '2031' }
    const answer = await visit(shop, path, form)
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).not.toContain('4111111111111111')
    expect(html).not.toContain('<b>')
    expect(html).toContain('value="&#60;b&#62;&#34;Ana&#34;"')
    expect(html).toMatch(/id="cardNumber"[^>]*aria-invalid="true" aria-describedby="cardNumber-wrong"/)
    expect(html).toContain('id="cardNumber-wrong"')
    expect(html).toContain('Type a month from 1 to 12.')
    expect((await visit(shop, path, {})).status).toBe(422)
    expect((await visit(shop, path)).status).toBe(200)
    expect(await billingEvents(shop)).toEqual([])
  })

  test('a provider that is down answers 503 and leaves the checkout open', async () => {
    const shop = await store(app, { plan: null })
    const { path } = await openCheckout(shop)
    await sandboxBillingOfShop(shop).setMode(shop.id, 'down')
    expect((await visit(shop, path)).status).toBe(503)
    expect((await pay(shop, path)).status).toBe(503)
    await sandboxBillingOfShop(shop).setMode(shop.id, 'up')
    expect((await visit(shop, path)).status).toBe(200)
  })

  test('card numbers are in no table and no log', async () => {
    const shop = await store(app, { plan: null })
    const tried = [goodCard, declinedCard, declinesLaterCard, chargedBackCard, '4111111111111111']
    for (const number of tried) await pay(shop, (await openCheckout(shop)).path, number)
    await app.drainJobs()
    const tables = await app.database.query<{ name: string }>(
      `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
       where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`,
      [],
    )
    expect(tables.length).toBeGreaterThan(40)
    const dump: string[] = [...lines]
    for (const { name } of tables) {
      const rows = await app.database.query<{ row: string }>(`select t::text as row from ${name} t`, [])
      dump.push(...rows.map(({ row }) => row))
    }
    const text = dump.join('\n')
    expect(text).toContain('0259')
    for (const number of tried) {
      expect(text).not.toContain(number)
      expect(text).not.toContain(number.replace(/(....)(?=.)/g, '$1 '))
      expect(text).not.toContain(number.slice(4, 12))
    }
  })
})

describe('GET /billing/return', () => {
  test('asks the provider and applies a result whose hook has not arrived', async () => {
    const shop = await store(app, { plan: null })
    const { providerCheckoutId } = await openCheckout(shop)
    const card = { cardNumber: goodCard, holder: 'Ana', expMonth: '12', expYear: '2031' }
    const paid = await sandboxBillingOfShop(shop).pay(providerCheckoutId, card)
    const { returnUrl } = paid as { returnUrl: string }
    expect(await billingEvents(shop)).toEqual([])
    const pages = await Promise.all([visit(shop, returnUrl), visit(shop, returnUrl)])
    for (const page of pages) expect(await page.text()).toContain('The payment went through')
    await app.drainJobs()
    const [event, ...others] = await billingEvents(shop)
    expect(others).toEqual([])
    expect(event!.applied_at).not.toBeNull()
  })

  test('says that a payment is being processed, or that the checkout was replaced', async () => {
    const shop = await store(app, { plan: null })
    const { providerCheckoutId } = await openCheckout(shop)
    const address = `/billing/return?provider=sandbox&ref=${providerCheckoutId}`
    expect(await (await visit(shop, address)).text()).toContain('being processed')
    await openCheckout(shop)
    expect(await (await visit(shop, address)).text()).toContain('This checkout is closed')
  })

  test('says 503 while the provider does not answer, and the result later', async () => {
    const shop = await store(app, { plan: null })
    const { path } = await openCheckout(shop)
    const location = (await pay(shop, path)).headers.get('location')!
    await sandboxBillingOfShop(shop).setMode(shop.id, 'down')
    const page = await visit(shop, location)
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('Nothing is lost')])
    await sandboxBillingOfShop(shop).setMode(shop.id, 'up')
    expect((await visit(shop, location)).status).toBe(200)
  })

  test.each([
    '',
    '?provider=sandbox',
    '?provider=sandbox&ref=sa_unknown',
    '?provider=toString&ref=a',
    '?ref=a',
  ])('%s is 404', async (query) => {
    const shop = await store(app, { plan: null })
    const page = await visit(shop, `/billing/return${query}`)
    expect([page.status, await page.text()]).toEqual([404, expect.stringContaining('no such checkout')])
  })
})
