/** A connection that is lost or down, and recovers: notifications, waiting jobs, resumption. */

import { afterEach, describe, expect, test, vi } from 'vitest'
import listProducts from '#operations/store/connections/api/list-products'
import { connectEcommerce, connectedStores, findEcommerce } from '#operations/store/connections/connections'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { ordersSync } from '#operations/store/handles'
import { readHealth } from '#operations/store/health/read-health'
import getOnboarding from '#operations/store/onboarding/api/get-onboarding'
import getInformation from '#operations/store/profile/api/get-information'
import getStore from '#operations/store/profile/api/get-store'
import { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { AccessLost, Unavailable } from '#runtime/ports/errors'
import { type ProviderOutcome, unwrapAdapter } from '#runtime/ports/instrumentation'
import { getRetryDelay } from '#runtime/ports/retry-delay'
import { checkConnections, formatConnection } from '#scripts/admin/check-connections'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const app = await testApp()
const platform = unwrapAdapter(app.services.adapters.ecommerce.sandbox!) as EcommercePort &
  Record<string, unknown>

/** Makes every call to the platform fail. */
const failAllCalls = (error: () => Error): void => {
  for (const name of Object.keys(platform)) {
    if (typeof platform[name] !== 'function' || /^(webhookSecret|parseWebhook)$/.test(name)) continue
    vi.spyOn(platform, name as 'listOrders').mockImplementation(async () => {
      throw error()
    })
  }
}
const accessLost = () => new AccessLost('uninstalled', 'The app was uninstalled', 'Install the app again')
const unavailable = () => new Unavailable('no', 'The platform is down')
const restoreAnswers = (): void => void vi.restoreAllMocks()
afterEach(restoreAnswers)

const notices = async (shop: ConnectedShop) =>
  (await shop.request('GET', '/notifications')).body.data
    .filter(({ type }: { type: string }) => type.startsWith('connection-') || type.includes('failed'))
    .map(({ type, title, message }: Record<string, string>) => ({ type, title, message }))
    .reverse()
const findHealth = async (shop: ConnectedShop) =>
  (await readHealth(await shop.context())).find(({ port }) => port === 'ecommerce')
const storesToSync = async (shop: ConnectedShop): Promise<string[]> => {
  const { rows } = await connectedStores(new SystemContext(app.services, app.services.log, 'test'))
    .execute()
    .then((rows) => ({ rows }))
  return rows.map(({ store_id: id }) => id).filter((id) => id === shop.id)
}
const findJobs = (shop: ConnectedShop, name: string) =>
  app.database.query<{ state: string; retry_count: number }>(
    `select state::text as state, retry_count from pgboss.job
     where data->>'job' = $1 and data ->> 'storeId' = $2 and state in ('created', 'retry', 'active', 'failed')`,
    [name, shop.id],
  )

describe('access that is gone', () => {
  test('is reported once with cause and remedy, shown everywhere, and its recovery is reported once', async () => {
    const shop = await connectedStore(app)
    expect((await shop.call(getStore)).body.connected).toBe(true)
    failAllCalls(accessLost)
    const answer = await shop.call(listProducts)
    expect(answer.status).toBe(503)
    expect(answer.body.error).toEqual({
      code: 'unavailable',
      message: `The connection to sandbox is lost since ${app.clock.now().toISOString()}: The app was uninstalled. Install the app again`,
    })
    await shop.call(listProducts)
    expect((await shop.call(getStore)).body.connected).toBe(false)
    expect((await shop.call(getInformation)).body.connections).toMatchObject([
      { port: 'ecommerce', provider: 'sandbox', connected: false },
    ])
    const step = async () =>
      (await shop.call(getOnboarding)).body.steps.find(({ id }: { id: string }) => id === 'platform').isDone
    expect(await step()).toBe(false)
    expect(await storesToSync(shop)).toEqual([])
    expect(await notices(shop)).toEqual([
      {
        type: 'connection-lost',
        title: 'The connection to your ecommerce platform (sandbox) is lost',
        message:
          'The app was uninstalled. Install the app again. What waits for it goes on by itself once it works again.',
      },
    ])
    restoreAnswers()
    await app.advance(minuteMs)
    expect((await shop.call(listProducts)).status).toBe(200)
    expect(await findHealth(shop)).toMatchObject({ state: 'connected', since: app.clock.now(), code: null })
    expect((await shop.call(getStore)).body.connected).toBe(true)
    expect(await step()).toBe(true)
    expect(await storesToSync(shop)).toEqual([shop.id])
    expect((await notices(shop)).map(({ type }: { type: string }) => type)).toEqual([
      'connection-lost',
      'connection-back',
    ])
  })

  test('is recovered by a probe, and waiting jobs resume', async () => {
    const shop = await connectedStore(app)
    failAllCalls(accessLost)
    await (await shop.context()).queue(ordersSync, {})
    await app.drainJobs()
    expect(await findJobs(shop, 'orders-sync')).toEqual([{ state: 'created', retry_count: 0 }])
    // Queuing the same job again changes nothing.
    await (await shop.context()).queue(ordersSync, {})
    await app.drainJobs()
    expect(await findJobs(shop, 'orders-sync')).toHaveLength(1)
    await app.advance(61_000 * 1.1)
    await app.drainJobs()
    expect((await findHealth(shop))!.probes).toBe(1)
    restoreAnswers()
    await app.advance(6 * minuteMs)
    await app.drainJobs()
    expect(await findHealth(shop)).toMatchObject({ state: 'connected', probes: 0, nextProbeAt: null })
    expect(await findJobs(shop, 'orders-sync')).toEqual([])
    expect((await notices(shop)).map(({ type }: { type: string }) => type)).toEqual([
      'connection-lost',
      'connection-back',
    ])
  })

  test('ends with a reconnection, and a call over the earlier connection does not count', async () => {
    const shop = await connectedStore(app)
    const before = (await findEcommerce(await shop.context()))!
    failAllCalls(accessLost)
    await shop.call(listProducts)
    restoreAnswers()
    await app.advance(minuteMs)
    await connectEcommerce(await shop.context(), 'sandbox', { token: 'sandbox' })
    expect(await findHealth(shop)).toMatchObject({ state: 'connected' })
    failAllCalls(accessLost)
    await expect(before.port.listCategories(before.store)).rejects.toThrow(AccessLost)
    expect(await findHealth(shop)).toMatchObject({ state: 'connected' })
    expect((await shop.call(getStore)).body.connected).toBe(true)
  })

  test('with credentials that are only being tried is an error of the caller', async () => {
    const shop = await connectedStore(app)
    failAllCalls(accessLost)
    await expect(connectEcommerce(await shop.context(), 'sandbox', {})).rejects.toThrow(
      'credentials: The app was uninstalled: Install the app again',
    )
    expect(await findHealth(shop)).toBeUndefined()
  })
})

describe('a provider that is down', () => {
  test('is degraded after three failed calls in a row; jobs wait without using up retries, then resume', async () => {
    const shop = await connectedStore(app)
    failAllCalls(unavailable)
    const message = async () => (await shop.call(listProducts)).body.error.message
    expect(await message()).toBe('A system this depends on does not answer: try again later')
    expect(await message()).toBe('A system this depends on does not answer: try again later')
    const since = app.clock.now().toISOString()
    expect(await message()).toBe(
      `sandbox has not answered since ${since}: Nothing has to be done: it is asked again by itself, and what waits for it goes on then`,
    )
    // It may recover in a moment: it stays connected, and nobody is notified.
    expect((await shop.call(getStore)).body.connected).toBe(true)
    await (await shop.context()).queue(ordersSync, {})
    for (let hours = 0; hours < 3; hours += 1) {
      await app.drainJobs({ allowFailures: true })
      await app.advance(60 * minuteMs)
    }
    expect(await notices(shop)).toEqual([])
    expect((await findJobs(shop, 'orders-sync')).map(({ state }) => state)).not.toContain('failed')
    restoreAnswers()
    await app.advance(70 * minuteMs)
    await app.drainJobs()
    expect(await findHealth(shop)).toMatchObject({ state: 'connected' })
    expect(await findJobs(shop, 'orders-sync')).toEqual([])
  })

  test('delays jobs for a day, and lost access for three days', async () => {
    const shop = await connectedStore(app)
    const { port, store } = (await findEcommerce(await shop.context()))!
    const now = app.clock.ms()
    const waitMs = async (error: () => Error, ...hours: number[]) => {
      failAllCalls(error)
      const thrown = await port.listCategories(store).catch((each: unknown) => each)
      return hours.map((each) => getRetryDelay(thrown, now + each * 60 * minuteMs))
    }
    expect(await waitMs(unavailable, 0)).toEqual([null])
    await waitMs(unavailable, 0)
    expect(await waitMs(unavailable, 0, 0.5, 23.9, 24)).toEqual([
      minuteMs,
      30 * minuteMs,
      60 * minuteMs,
      null,
    ])
    expect(await waitMs(accessLost, 0, 71.9, 72)).toEqual([minuteMs, 60 * minuteMs, null])
  })

  test('occasional failures do not degrade it', async () => {
    const shop = await connectedStore(app)
    for (let round = 0; round < 4; round += 1) {
      failAllCalls(unavailable)
      await shop.call(listProducts)
      await shop.call(listProducts)
      restoreAnswers()
      expect((await shop.call(listProducts)).status).toBe(200)
    }
    expect(await findHealth(shop)).toMatchObject({ state: 'connected', failedAt: [] })
  })
})

describe('a check of the command line', () => {
  test('calls every port, reports findings with remedies, and changes nothing', async () => {
    const shop = await connectedStore(app)
    const ctx = await shop.context()
    const well = await checkConnections(ctx)
    expect(well.map(({ port, provider, isFine }) => [port, provider, isFine])).toEqual([
      ['ecommerce', 'sandbox', true],
      ['messaging', null, true],
      ['mailingList', null, true],
      ['billing', 'sandbox', true],
      ['mail', 'sandbox', true],
      ['storage', 'disk', true],
    ])
    failAllCalls(accessLost)
    const [found] = await checkConnections(ctx, 'ecommerce')
    expect(found).toMatchObject({
      isFine: false,
      state: 'connected',
      findings: [{ code: 'uninstalled', isFine: false, remedy: 'Install the app again' }],
    })
    expect(formatConnection(found!)).toEqual([
      'ecommerce: sandbox',
      '  MISSING  The app was uninstalled (uninstalled)',
      '           Install the app again',
    ])
    expect(await findHealth(shop)).toBeUndefined()
    // An adapter's own findings are reported unchanged.
    const findings = [
      { code: 'scopes', isFine: false, message: 'read_orders is missing', remedy: 'Grant it' },
      { code: 'webhooks', isFine: true, message: 'All are registered' },
    ]
    vi.spyOn(platform, 'check').mockImplementation(async () => findings as never)
    expect((await checkConnections(ctx, 'ecommerce'))[0]).toMatchObject({ isFine: false, findings })
  })
})

test('successful calls of a healthy connection record nothing', async () => {
  const outcomes: ProviderOutcome[] = []
  const quiet = await testApp(
    {},
    {
      extensions: {
        providerOutcome: async (_system, outcome) => {
          outcomes.push(outcome)
          return null
        },
      },
    },
  )
  const shop = await connectedStore(quiet)
  await shop.call(listProducts)
  await shop.sell({ items: [{ variantId: '2001', quantity: 1 }] })
  expect(outcomes).toEqual([])
})
