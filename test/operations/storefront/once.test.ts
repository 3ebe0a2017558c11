/** Idempotency: every write of the storefront, sent twice, has one effect and one answer. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ConnectionLost } from '#db/deadlines'
import { Context } from '#runtime/context'
import { Claim } from '#runtime/gateway/idempotency'
import { testApp, wholeRegistry } from '#test/support/app'
import { automationShop } from '#test/support/automations'
import { formShop, newAddress, popupShop, tenPercent } from '#test/support/capture'
import { stockShop } from '#test/support/stock'
import type { Shop } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'
import { ana, exchangeShop } from '../exchanges/shopper.ts'
import { findToken, reviewShop } from '../reviews/shop.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})

interface Sent {
  status: number
  text: string
  replayed: boolean
  location: string | null
}

interface Write {
  shop: Shop
  path: string
  body?: unknown
  type?: string
  /** Number of effects. */
  effects(): Promise<number>
}

async function send({ shop, path, body, type }: Write, key?: string): Promise<Sent> {
  const response = await app.fetch(
    new Request(`http://localhost/storefront/${shop.publicId}${path}`, {
      method: 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
    { ip: newAddress() },
  )
  return {
    status: response.status,
    text: await response.text(),
    replayed: response.headers.get('idempotency-replayed') === 'true',
    location: response.headers.get('location'),
  }
}

const countIn = (shop: Shop, table: string) => async (): Promise<number> => {
  const [row] = await app.database.query<{ n: number }>(
    `select count(*)::int as n from ${table} where store_id = $1`,
    [shop.id],
  )
  return row!.n
}
const person = { name: 'Ana Souza', email: 'ana@example.com', message: 'Hello' }

async function exchange() {
  await app.setClock('2026-04-01T12:00:00.000Z')
  const shop = await exchangeShop(app)
  const order = await shop.delivered()
  return { shop, order }
}
const requestBody = async ({ shop, order }: Awaited<ReturnType<typeof exchange>>) => ({
  sessionToken: await shop.session(order),
  type: 'return',
  returnMethod: 'customer-ships',
  acceptedConditions: true,
  items: [{ orderItemId: order.items[0]!.id, quantity: 1, reason: 'wrong-size' }],
})
async function moveExchange(then: string, body?: unknown): Promise<Write> {
  const made = await exchange()
  await made.shop.settings({ autoApprove: then === 'shipped' })
  const { body: asked } = await made.shop.ask(made.order)
  const path = `${new URL(asked.statusUrl).pathname.split(made.shop.publicId)[1]}/${then}`
  const status = then === 'cancel' ? 'cancelled' : 'in-transit'
  return {
    shop: made.shop,
    path,
    body: body ?? {},
    effects: countIn(made.shop, `(select * from exchange_requests where status = '${status}') as r`),
  }
}
async function reviews() {
  await app.setClock('2026-04-01T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings({ request: { delayDays: 0 } })
  return shop
}
const opinion = { productId: '1001', rating: 5, text: 'Linda', name: 'Ana', email: 'ana@example.com' }

/**
 * Each write of the storefront: its request, and its effects. `again`: the answer to a second request without a key.
 */
const writes: Record<string, { make(): Promise<Write>; again: number; repeats?: boolean }> = {
  '/newsletter/subscribers': {
    again: 200,
    async make() {
      // A code that is shown and never emailed: a shopper who misses the answer never gets it.
      const coupon = { ...tenPercent, mode: 'shared', code: `OLA${Math.random().toString().slice(2, 8)}` }
      const shop = await popupShop(app, { coupon })
      const body = { token: shop.token, consent: true, email: 'ana@example.com' }
      return { shop, path: '/newsletter/subscribers', body, effects: countIn(shop, 'newsletter_subscribers') }
    },
  },
  '/contact-form/submissions': {
    again: 201,
    async make() {
      const shop = await formShop(app)
      const body = { token: shop.token, values: person }
      return {
        shop,
        path: '/contact-form/submissions',
        body,
        effects: countIn(shop, 'contact_form_submissions'),
      }
    },
  },
  '/unsubscribe': { again: 200, make: () => unsubscribing() },
  '/stock-notifications': {
    again: 409,
    async make() {
      const shop = await stockShop(app)
      const body = { variantId: '3001', source: 'product-page', email: 'ana@example.com' }
      return { shop, path: '/stock-notifications', body, effects: countIn(shop, 'stock_subscriptions') }
    },
  },
  '/reviews': {
    again: 409,
    async make() {
      const shop = await reviews()
      return { shop, path: '/reviews', body: opinion, effects: countIn(shop, 'product_reviews') }
    },
  },
  '/reviews/upload-url': {
    again: 200,
    // A second link is no effect: only the upload is.
    repeats: true,
    async make() {
      const shop = await reviews()
      const body = { fileName: 'a.png', contentType: 'image/png', size: 10 }
      return { shop, path: '/reviews/upload-url', body, effects: countIn(shop, 'files') }
    },
  },
  '/reviews/confirm': {
    again: 200,
    async make() {
      const shop = await reviews()
      const order = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 1 }] })
      await shop.deliver(order)
      await app.drainJobs()
      await send({ shop, path: '/reviews', body: opinion, effects: async () => 0 })
      await app.drainJobs()
      const token = findToken((await shop.mails(ana.email)).find(({ text }) => text.includes('/confirm'))!)
      return {
        shop,
        path: `/reviews/confirm?token=${encodeURIComponent(token)}`,
        effects: countIn(shop, '(select * from product_reviews where verified) as r'),
      }
    },
  },
  '/events': {
    again: 204,
    async make() {
      const shop = await reviews()
      const body = {
        visitorId: 'visitor-0123456789ab',
        events: [{ id: crypto.randomUUID(), type: 'product-view', widget: 'page', productId: '1001' }],
      }
      return { shop, path: '/events', body, effects: countIn(shop, 'storefront_events') }
    },
  },
  '/exchanges/lookup': {
    again: 200,
    repeats: true,
    async make() {
      const { shop, order } = await exchange()
      const body = { orderNumber: order.number, contact: ana.email }
      return { shop, path: '/exchanges/lookup', body, effects: async () => 1 }
    },
  },
  '/exchanges/upload-url': {
    again: 200,
    repeats: true,
    async make() {
      const { shop, order } = await exchange()
      const sessionToken = await shop.session(order)
      const body = { sessionToken, fileName: 'a.png', contentType: 'image/png', size: 10 }
      return { shop, path: '/exchanges/upload-url', body, effects: countIn(shop, 'files') }
    },
  },
  '/exchanges/requests': {
    again: 201,
    async make() {
      const made = await exchange()
      const body = await requestBody(made)
      return {
        shop: made.shop,
        path: '/exchanges/requests',
        body,
        effects: countIn(made.shop, 'exchange_requests'),
      }
    },
  },
  '/exchanges/requests/:statusToken/shipped': {
    again: 200,
    make: () => moveExchange('shipped', { trackingCode: 'BR123' }),
  },
  '/exchanges/requests/:statusToken/cancel': { again: 409, make: () => moveExchange('cancel') },
}

async function unsubscribing(): Promise<Write> {
  const shop = await popupShop(app, { coupon: tenPercent, couponDelivery: 'both' })
  const email = `${crypto.randomUUID()}@example.com`
  await send({
    shop,
    path: '/newsletter/subscribers',
    body: { token: shop.token, consent: true, email },
    effects: async () => 0,
  })
  await app.drainJobs()
  const [mail] = await app.database.query<{ text: string }>(
    'select text from sandbox_mail where to_address = $1',
    [email],
  )
  const token = /unsubscribe\?token=([\w.%-]+)/.exec(mail!.text)![1]!
  return {
    shop,
    path: `/unsubscribe?token=${token}`,
    effects: countIn(shop, `(select * from newsletter_subscribers where status = 'unsubscribed') as s`),
  }
}

/** Connections that fail after the effect: each throws once the work is done, so that the answer is lost. */
const connectionLosses: Record<string, () => unknown> = {
  'the commit': () => {
    const { transaction } = Context.prototype
    let isLost = false
    return vi.spyOn(Context.prototype, 'transaction').mockImplementation(async function (
      this: Context,
      work,
      level,
    ) {
      const isOutermost = !this.inTransaction
      const done = await transaction.call(this, work, level)
      if (!isOutermost || isLost) return done as never
      isLost = true
      throw new ConnectionLost('The answer to the commit was lost')
    })
  },
  'the stored answer': () =>
    vi
      .spyOn(Claim.prototype, 'overwriteAnswer')
      .mockRejectedValueOnce(new ConnectionLost('The answer was not kept')),
}
afterEach(() => void vi.restoreAllMocks())

/** An answer without its tokens, dates and numbers: only its shape. */
const toShape = (text: string): unknown =>
  text === ''
    ? null
    : JSON.parse(text, (_name, value) =>
        typeof value === 'object' || typeof value === 'boolean' ? value : typeof value,
      )

const prefix = '/storefront/:publicId'
const { pages } = await wholeRegistry()
const routes = pages.filter(({ method, path }) => method !== 'GET' && path.startsWith(prefix))

describe('every write of the storefront', () => {
  test('every write is covered here', () => {
    expect(routes.map(({ path }) => path.slice(prefix.length)).sort()).toEqual(Object.keys(writes).sort())
  })

  test.each(Object.entries(writes))(
    '%s: five concurrent requests with one key have one effect and one answer',
    async (_path, { make }) => {
      const write = await make()
      const key = `key-of-${crypto.randomUUID()}`
      const answers = await Promise.all(Array.from({ length: 5 }, () => send(write, key)))
      const first = answers.find(({ replayed }) => !replayed)!
      expect(first.status, first.text).toBeLessThan(400)
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
      for (const { status, text } of answers) expect([status, text]).toEqual([first.status, first.text])
      expect(await write.effects()).toBe(1)
      const other = await send(
        { ...write, path: `${write.path}${write.path.includes('?') ? '&' : '?'}x=1` },
        key,
      )
      expect([other.status, other.text]).toEqual([409, expect.stringContaining('another request')])
      expect((await send(write, 'short')).status).toBe(400)
    },
  )

  test.each(Object.entries(writes).filter(([, { repeats }]) => !repeats))(
    '%s: five concurrent requests without a key have one effect',
    async (_path, { make, again }) => {
      const write = await make()
      const answers = await Promise.all(Array.from({ length: 5 }, () => send(write)))
      const statuses = answers.map(({ status }) => status).sort()
      expect(statuses.filter((status) => status !== again).length, statuses.join()).toBeLessThanOrEqual(1)
      expect(statuses.filter((status) => status < 400).length).toBeGreaterThanOrEqual(1)
      expect(await write.effects()).toBe(1)
      expect((await send(write)).status).toBe(again)
      expect(await write.effects()).toBe(1)
    },
  )
})

/** Pages for people. */
const isHtml = ['/unsubscribe', '/reviews/confirm']

/** The fast suite tests one kind of loss. */
const lost = Object.entries(connectionLosses).slice(0, isFullSuite ? undefined : 1)

describe.each(lost)('lost answer: %s', (_what, lose) => {
  test.each(Object.entries(writes))(
    '%s: a repeated request gets the answer that was lost',
    async (path, { make, repeats }) => {
      const usual = await send(await make(), `key-of-${crypto.randomUUID()}`)
      const write = await make()
      const key = `key-of-${crypto.randomUUID()}`
      lose()
      const first = await send(write, key)
      const again = await send(write, key)
      expect([first.status === 503 || first.status === usual.status, again.status]).toEqual([
        true,
        usual.status,
      ])
      if (!isHtml.includes(path)) expect(toShape(again.text)).toEqual(toShape(usual.text))
      if (!repeats) expect(await write.effects()).toBe(1)
    },
  )
})

test('a refused form may be corrected and sent again with its key', async () => {
  const shop = await formShop(app)
  const key = `key-of-${crypto.randomUUID()}`
  const effects = countIn(shop, 'contact_form_submissions')
  const write = { shop, path: '/contact-form/submissions', effects }
  const sent = (values: object) => send({ ...write, body: { token: shop.token, values } }, key)
  expect((await sent({ ...person, email: 'nobody' })).status).toBe(400)
  expect((await sent(person)).status).toBe(201)
  expect((await sent({ ...person, message: 'More' })).status).toBe(409)
  expect(await effects()).toBe(1)
})

test.each([
  [
    'two orders of it',
    [['2001'], ['2001']],
    [
      ['sent', null],
      ['skipped', 'recent-request'],
    ],
  ],
  ['two variants of it in one order', [['2001', '2002']], [['sent', null]]],
])('a person is asked once about a product: %s', async (_name, orders, asked) => {
  await app.setClock('2026-05-01T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings({ request: { delayDays: 1 } })
  const customer = { name: 'Ana', email: `${crypto.randomUUID()}@example.com`, phone: null }
  for (const variantIds of orders) {
    const items = variantIds.map((variantId) => ({ variantId, quantity: 1 }))
    const order = await shop.place({ customer, items })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
  }
  await app.drainJobs()
  await app.advance(3 * 24 * 3_600_000)
  await app.drainJobs()
  expect(await shop.mails(customer.email)).toHaveLength(1)
  expect((await shop.dispatches()).map(({ status, reason }) => [status, reason])).toEqual(asked)
})

test('two concurrent carts of one phone: one message, and one coupon at the platform', async () => {
  await app.setClock('2026-05-10T15:00:00.000Z')
  const shop = await automationShop(app)
  const automation = await shop.automation({
    type: 'abandoned-cart',
    message: { text: 'Take {{couponCode}}' },
    coupon: { type: 'percentage', value: 10 },
  })
  await shop.cart()
  await shop.cart()
  await app.advance(2 * 3_600_000)
  await app.drainJobs()
  const rows = await shop.executions(automation.id)
  expect(rows.map((row) => row.skip_reason ?? 'left').sort()).toEqual(['cooldown', 'left'])
  expect(await countIn(shop, 'automation_coupons')()).toBe(1)
})
