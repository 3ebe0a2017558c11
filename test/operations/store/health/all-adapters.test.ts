/** Outcomes of every call are recorded: every port, every adapter, every method. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mailingList } from '#operations/capture/mailing-list/connection'
import { findEcommerce } from '#operations/store/connections/connections'
import { portNames } from '#operations/store/health/kinds'
import { readHealth } from '#operations/store/health/read-health'
import type { Context } from '#runtime/context'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import type { PortName } from '#runtime/ports/ports'
import type { ConnectionRef, ProviderStore } from '#runtime/ports/provider'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

// Includes the real adapters; none of them is really called.
const app = await testApp({
  ecommerceUrl: 'shopify://myshopify.com,tiendanube://tiendanube.com?contact=ops@example.com',
  billingUrl: 'mercadopago://token:secret@api.mercadopago.com',
  messagingUrl: 'whatsapp://4711@graph.facebook.com/v23.0?config=99',
  messagingAppSecret: 'app secret',
  mailingListUrl: 'mailchimp://api.mailchimp.com',
  mailUrl: 'smtp://localhost:9',
  storageUrl: 's3://key:secret@localhost:9/bucket?region=us-east-1&tls=off',
})
const { adapters } = app.services

/** Members of `adapters` that are no ports. */
const notPorts = ['files', 'close']

interface Adapter {
  port: PortName
  provider: string
  adapter: object
}
const isServers = (port: PortName): boolean => ['billing', 'mail', 'storage'].includes(port)
const all: Adapter[] = Object.keys(adapters)
  .filter((name) => !notPorts.includes(name))
  .flatMap((name): Adapter[] => {
    const port = name as PortName
    const held = adapters[port]
    if (port === 'mail') return [{ port, provider: 'smtp', adapter: held }]
    if (port === 'storage') return [{ port, provider: 's3', adapter: held }]
    return Object.entries(held as Record<string, object>).map(([provider, adapter]) => ({
      ...{ port, provider, adapter },
    }))
  })

const listMethods = (adapter: object): string[] => {
  const names = new Set<string>()
  for (let at = unwrapAdapter(adapter); at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
    }
  }
  return [...names].sort()
}

/** Calls a method while the adapter behind it throws `error`. */
async function callThrowing(
  adapter: object,
  method: string,
  error: Error,
  of: ProviderStore | null,
): Promise<void> {
  const behind = unwrapAdapter(adapter)
  const own = Object.getOwnPropertyDescriptor(behind, method)
  const value = () => Promise.reject(error)
  Object.defineProperty(behind, method, { value, configurable: true })
  const called = (adapter as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!
  await expect(called(of ?? 'anything'), method).rejects.toBe(error)
  Reflect.deleteProperty(behind, method)
  if (own) Object.defineProperty(behind, method, own)
}

async function connectStore(shop: Shop, port: PortName, provider: string): Promise<ProviderStore> {
  const ctx = await shop.context()
  const now = app.clock.now()
  if (port === 'messaging') {
    const row = { provider, status: 'connected', connected_at: now, updated_at: now }
    await ctx.db
      .insertInto('messaging_connections')
      .values({ type: 'qr', created_at: now, ...row })
      .onConflict((conflict) => conflict.columns(['store_id', 'type']).doUpdateSet(row))
      .execute()
    const connection: ConnectionRef = { port, part: 'qr', connectedAt: now, isFailing: false }
    return { id: shop.id, credentials: null, connection }
  }
  const row = { provider, credentials: null, connected_at: now, updated_at: now }
  await ctx.db
    .insertInto('connections')
    .values({ port, created_at: now, ...row })
    .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet(row))
    .execute()
  return (port === 'ecommerce' ? await findEcommerce(ctx) : await mailingList(ctx))!.store
}

async function clearHealth(): Promise<void> {
  await app.database.query('delete from connection_health', [])
  await app.database.query('delete from provider_health', [])
}

const findHealth = async (ctx: Context, { port, provider }: Adapter) =>
  (await readHealth(ctx)).find((each) => each.port === port && each.provider === provider)

test('every port of the server is instrumented', () => {
  expect([...new Set(all.map(({ port }) => port))].sort()).toEqual([...portNames].sort())
  for (const { adapter } of all) expect(unwrapAdapter(adapter)).not.toBe(adapter)
})

describe('access that is gone', () => {
  test.each(all.map((each) => [`${each.port}: ${each.provider}`, each] as const))(
    'is recorded for any method of %s',
    async (_name, each) => {
      const shop = await store(app)
      const ctx = await shop.context()
      const methods = listMethods(each.adapter)
      expect(methods.length).toBeGreaterThan(0)
      for (const method of methods) {
        await clearHealth()
        const of = isServers(each.port) ? null : await connectStore(shop, each.port, each.provider)
        const error = new AccessLost('access-gone', 'It was uninstalled', 'Install it again')
        await callThrowing(each.adapter, method, error, of)
        const { state, code, remedy } = (await findHealth(ctx, each)) ?? {}
        expect([method, state, code, remedy]).toEqual([method, 'lost', 'access-gone', 'Install it again'])
      }
    },
    60_000,
  )
})

test('throttling never makes a provider unhealthy', async () => {
  await clearHealth()
  const shop = await store(app)
  const ctx = await shop.context()
  for (const each of all) {
    const of = isServers(each.port) ? null : await connectStore(shop, each.port, each.provider)
    const [method = ''] = listMethods(each.adapter)
    const slower = new Throttled(1_000)
    for (const error of [slower, new Unavailable('no', slower.message, { cause: slower })]) {
      for (let times = 0; times < 4; times += 1) await callThrowing(each.adapter, method, error, of)
    }
    expect([each.provider, await findHealth(ctx, each)]).toEqual([each.provider, undefined])
  }
})

/** Calls with credentials that are being tried or released: their outcomes concern no connection. */
const unstoredCredentials = [
  'operations/capture/mailing-list/connection.ts',
  'operations/messaging/assistant/',
  'operations/messaging/numbers/releases.ts',
  'operations/messaging/official/confirm.ts',
  'operations/messaging/official/setup.ts',
  'operations/messaging/official/state.ts',
  'operations/messaging/qr/start.ts',
  'operations/messaging/shared/connect.ts',
  'operations/store/connections/connections.ts',
  'operations/store/ecommerce/tiendanube/installation/install.ts',
]

test('a store passed to an adapter names its connection', () => {
  const root = join(import.meta.dirname, '../../../..')
  const files = readdirSync(join(root, 'operations'), { recursive: true, encoding: 'utf8' })
  const without = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `operations/${file}`)
    .filter((file) => {
      const code = readFileSync(join(root, file), 'utf8')
      return /\{\s*id: [^,{}]+,\s*credentials(?:: [^},]*)?,?\s*\}/.test(
        code.replace(/\.select\([^)]*\)/g, ''),
      )
    })
  expect(without.filter((file) => !unstoredCredentials.some((each) => file.startsWith(each)))).toEqual([])
  expect(unstoredCredentials.filter((each) => !without.some((file) => file.startsWith(each)))).toEqual([])
})
