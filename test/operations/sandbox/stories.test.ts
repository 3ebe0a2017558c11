/** Runs each story to its end by pressing the buttons of the page, and checks the result through the API. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { wholeRegistry } from '#test/support/app'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { type Shop, store } from '#test/support/store'

interface Call {
  method: string
  path: string
}
interface Step {
  text: string
  calls: Call[]
  reads: string
  link?: { path: string }
}
interface Story {
  id: string
  title: string
  steps: Step[]
}

const { app, url } = await servedApp()
const file = '../../../operations/sandbox/client/parts/stories.js'
const { stories } = (await import(new URL(file, import.meta.url).href)) as { stories: Story[] }

const get = async (shop: Shop, path: string) => {
  const { status, body } = await shop.request('GET', path)
  expect([path, status]).toEqual([path, 200])
  return body
}

/** Opens the page as a store, with the key in the link. */
async function openSandbox(shop: Shop) {
  const { page, asked, faults } = await openPage()
  await page.goto(`${url}/sandbox#key=${shop.key}`)
  await page.getByText('The page acts as').waitFor()
  return { page, asked, faults }
}

/** Presses the button of each step that is not done yet. Returns how many were pressed. */
async function runStory(page: Page, id: string): Promise<number> {
  const { steps } = stories.find((each) => each.id === id)!
  await page.locator(`[data-story="${id}"] > summary`).click()
  await page.locator(`[data-story="${id}"] > summary`).getByText('done').waitFor()
  let pressed = 0
  for (const [at] of steps.entries()) {
    const step = page.locator(`[data-story="${id}"] .step`).nth(at)
    if ((await step.getAttribute('data-done')) !== null) continue
    await step.getByRole('button', { name: 'Do it' }).click()
    await expect.poll(() => step.getAttribute('data-done')).not.toBeNull()
    pressed += 1
  }
  await page.locator(`[data-story="${id}"][data-over]`).waitFor()
  return pressed
}

/** Values of the story's current run. */
const readValues = async (page: Page, shop: Shop, id: string): Promise<Record<string, string>> => {
  const saved = await page.evaluate<string>(`sessionStorage.getItem('sandbox-stories')`)
  return JSON.parse(saved)[`${shop.slug} ${id}`]
}

describe('the steps as data', async () => {
  const registry = await wholeRegistry()
  const routes = [
    ...registry.operations.map(({ spec }) => ({ method: spec.method, path: `/v1${spec.path}` })),
    ...registry.pages,
  ].map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
  }))
  const exists = (method: string, path: string): boolean =>
    routes.some((route) => route.method === method && route.pattern.test(path.split('?')[0]!))

  test('there are seven stories', () => {
    expect(stories.map(({ id }) => id)).toEqual([
      'inbox',
      'campaign',
      'subscription',
      'stock',
      'exchange',
      'review',
      'widgets',
    ])
    expect(exists('GET', '/v1/no-such-thing')).toBe(false)
  })

  test.each(stories.map(({ id, steps }) => [id, steps] as const))(
    '%s calls only existing endpoints',
    (_id, steps) => {
      for (const { text, calls, reads, link } of steps) {
        const all = [
          ...calls,
          { method: 'GET', path: reads },
          ...(link ? [{ method: 'GET', path: link.path }] : []),
        ]
        for (const { method, path } of all) expect([text, method, path, exists(method, path)]).toContain(true)
        // Steps use the API, the sandbox endpoints or the storefront.
        for (const { path } of calls) expect(path).toMatch(/^\/(v1|sandbox|storefront)\//)
      }
    },
  )
})

describe.skipIf(!hasChromium)('stories in a browser', () => {
  const cleanly = (asked: string[], faults: string[]): void => {
    expect(asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:'))).toEqual([])
    expect(faults).toEqual([])
  }

  test('a phone is paired, and a customer answered in the inbox', async () => {
    const shop = await connectedStore(app)
    const { page, asked, faults } = await openSandbox(shop)
    expect(await runStory(page, 'inbox')).toBe(11)
    const session = await get(shop, '/messaging/session')
    expect([session.qr.status, session.official.status]).toEqual(['connected', 'connected'])
    const { data } = await get(shop, '/inbox/conversations')
    expect(data).toMatchObject([{ contactName: 'Paula Prado', status: 'closed', unreadCount: 0 }])
    const { data: messages } = await get(shop, `/inbox/conversations/${data[0].id}/messages`)
    expect(messages.map(({ direction, status }: Record<string, string>) => [direction, status])).toEqual([
      ['outbound', 'read'],
      ['inbound', 'received'],
    ])
    const phone = page.getByRole('article', { name: `Phone ${data[0].phone}` })
    await phone.getByText('Do you ship to Lisbon?').waitFor()
    await phone.getByText('Yes, in five days.').waitFor()
    cleanly(asked, faults)
  })

  test('a campaign is sent and delivered, and a customer presses a button', async () => {
    const shop = await connectedStore(app)
    const { page, asked, faults } = await openSandbox(shop)
    expect(await runStory(page, 'campaign')).toBe(9)
    const { templateId, campaignId, run } = await readValues(page, shop, 'campaign')
    expect(await get(shop, `/messaging/templates/${templateId}`)).toMatchObject({ status: 'approved' })
    expect(await get(shop, `/campaigns/${campaignId}`)).toMatchObject({
      status: 'sent',
      counters: { total: 3, read: 2, failed: 1 },
    })

    expect((await shop.request('POST', '/inbox/enable')).status).toBe(200)
    const phone = page.getByRole('article', { name: `Phone +551198${run}021` })
    await phone.getByText('Spring is here').waitFor()
    await phone.getByText('Hi Paula, new colours have come in. Want to see them first?').waitFor()
    await phone.getByText('Reply STOP to hear no more').waitFor()
    expect(await phone.getByRole('link', { name: 'Open the shop' }).getAttribute('href')).toBe(
      'https://shop.example/spring',
    )
    await phone.getByRole('button', { name: 'Show me' }).click()
    await page.getByRole('status').getByText('writes: done').waitFor()
    await app.drainJobs()
    const { data } = await get(shop, '/inbox/conversations')
    expect(data).toMatchObject([{ phone: `+551198${run}021`, lastMessagePreview: 'Show me' }])
    expect(await phone.locator('.bubble:not(.from-store)').getByText('Show me').count()).toBe(1)
    cleanly(asked, faults)
  })

  test('a plan is paid and upgraded, and its card changed', async () => {
    const shop = await store(app, { plan: null })
    const { page, asked, faults } = await openSandbox(shop)
    // A trial needs no cancellation.
    expect(await runStory(page, 'subscription')).toBe(5)
    expect(await get(shop, '/subscription')).toMatchObject({
      status: 'active',
      planId: 'scale',
      paymentMethod: { last4: '0341' },
    })
    const { data } = await get(shop, '/subscription/payments')
    expect(data.map(({ planId, status }: Record<string, string>) => [planId, status])).toEqual([
      ['scale', 'approved'],
      ['growth', 'approved'],
    ])
    cleanly(asked, faults)
  })

  test('a stock alert arrives and leads to an order', async () => {
    const shop = await connectedStore(app)
    const { page, asked, faults } = await openSandbox(shop)
    await runStory(page, 'stock')
    const { notificationId, run } = await readValues(page, shop, 'stock')
    const email = `paula.${run}@example.com`
    expect(await get(shop, `/stock-notifications/${notificationId}`)).toMatchObject({
      status: 'sent',
      email,
    })
    const mail = page.getByRole('list', { name: 'Mail, newest first' })
    await mail.getByText(email).first().waitFor()
    const { totals } = await get(shop, '/conversions/summary')
    expect(totals).toMatchObject({ orders: 1, bySource: { 'stock-notification': { orders: 1 } } })
    await page.getByRole('button', { name: 'Draw again' }).click()
    await page.getByRole('img', { name: `Conversions, ${totals.revenue} from`, exact: false }).waitFor()
    cleanly(asked, faults)
  })

  test('an exchange request runs from the order to the refund', async () => {
    const shop = await connectedStore(app)
    const { page, asked, faults } = await openSandbox(shop)
    expect(await runStory(page, 'exchange')).toBe(10)
    const { requestId, orderNumber } = await readValues(page, shop, 'exchange')
    expect(await get(shop, `/product-exchanges/requests/${requestId}`)).toMatchObject({
      type: 'return',
      status: 'completed',
    })
    const { data } = await get(shop, `/analytics/orders?search=${orderNumber}`)
    expect(data[0]).toMatchObject({ paymentStatus: 'refunded', refundedTotal: data[0].total })
    cleanly(asked, faults)
  })

  test('a review runs from the request to the stars', async () => {
    const shop = await connectedStore(app)
    const { page, asked, faults } = await openSandbox(shop)
    await runStory(page, 'review')
    const { reviewId, productId } = await readValues(page, shop, 'review')
    expect(await get(shop, `/product-reviews/${reviewId}`)).toMatchObject({
      status: 'approved',
      rating: 5,
      verified: true,
      source: 'request',
      reply: { text: 'Thank you, Paula!' },
    })
    await page.goto(`${url}/sandbox/shop/${shop.slug}/products/${productId}`)
    await page.getByText('Just as I hoped').waitFor()
    cleanly(asked, faults)
  })

  test('every widget is turned on, and the shop shows them', async () => {
    const shop = await connectedStore(app)
    const { page, asked, faults } = await openSandbox(shop)
    expect(await runStory(page, 'widgets')).toBe(6)
    await page.goto(`${url}/sandbox/shop/${shop.slug}`)
    for (const tag of ['store-free-shipping-bar', 'store-countdown-bar', 'store-action-bar'])
      await page.locator(tag).first().waitFor()
    await page.getByRole('link', { name: /^(All widgets|Todos os widgets)$/ }).click()
    await page.locator('[data-story="widgets"][open]').waitFor()
    cleanly(asked, faults)
  })

  test('the state of the store decides that a step is done, not the button', async () => {
    const shop: ConnectedShop = await connectedStore(app)
    const { page } = await openSandbox(shop)
    const stock = page.locator('[data-story="stock"]')
    await stock.locator('> summary').click()
    // Something is on sale; the alerts are off.
    await stock.getByText('1 of 8 done').waitFor()
    expect(await stock.locator('.step').nth(0).getAttribute('data-done')).toBeNull()
    await shop.request('POST', '/stock-notifications/settings', {
      body: { isEnabled: true, allowEmails: true },
    })
    // An event makes the page refresh.
    await shop.sell({})
    await stock.getByText('2 of 8 done').waitFor()
    // A refused call shows its error and does not complete the step.
    await page.route('**/v1/ecomplatform/products?inStock*', (route) =>
      route.fulfill({
        status: 503,
        json: { error: { code: 'unavailable', message: 'The platform is away' } },
      }),
    )
    await stock.locator('.step').nth(2).getByRole('button', { name: 'Do it' }).click()
    await stock.getByRole('alert').getByText('The platform is away').waitFor()
    expect(await stock.locator('.step').nth(2).getAttribute('data-done')).toBeNull()
  })
})
