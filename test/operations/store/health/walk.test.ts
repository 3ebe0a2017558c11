/** Whatever a section asks of an adapter is heard: every port, every adapter, every method there is. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mailingList } from '#operations/capture/mailing-list/connection'
import { ecommerce } from '#operations/store/connections/connections'
import { portNames } from '#operations/store/health/kinds'
import { readStandings } from '#operations/store/health/read'
import type { Context } from '#runtime/context'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'
import { unheard } from '#runtime/ports/heard'
import type { PortName } from '#runtime/ports/ports'
import type { ConnectionRef, ProviderStore } from '#runtime/ports/provider'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

// The real adapters beside the sandboxes; none of them is asked anything.
const app = await testApp({
  ecommerceUrl: 'shopify://myshopify.com',
  billingUrl: 'mercadopago://token:secret@api.mercadopago.com',
  messagingUrl: 'whatsapp://4711@graph.facebook.com/v23.0?config=99',
  messagingAppSecret: 'app secret',
  mailingListUrl: 'mailchimp://api.mailchimp.com',
  mailUrl: 'smtp://localhost:9',
  storageUrl: 's3://key:secret@localhost:9/bucket?region=us-east-1&tls=off',
})
const { adapters } = app.services

/** What the server holds that has methods, but is no port. */
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

const methodsOf = (adapter: object): string[] => {
  const names = new Set<string>()
  for (let at = unheard(adapter); at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
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
  const behind = unheard(adapter)
  const own = Object.getOwnPropertyDescriptor(behind, method)
  const value = () => Promise.reject(error)
  Object.defineProperty(behind, method, { value, configurable: true })
  const called = (adapter as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!
  await expect(called(of ?? 'anything'), method).rejects.toBe(error)
  Reflect.deleteProperty(behind, method)
  if (own) Object.defineProperty(behind, method, own)
}

async function connected(shop: Shop, port: PortName, provider: string): Promise<ProviderStore> {
  const ctx = await shop.context()
  const now = app.clock.now()
  if (port === 'messaging') {
    const row = { provider, status: 'connected', connected_at: now, updated_at: now }
    await ctx.db
      .insertInto('messaging_connections')
      .values({ type: 'qr', created_at: now, ...row })
      .onConflict((conflict) => conflict.columns(['store_id', 'type']).doUpdateSet(row))
      .execute()
    const connection: ConnectionRef = { port, part: 'qr', connectedAt: now, isTroubled: false }
    return { id: shop.id, credentials: null, connection }
  }
  const row = { provider, credentials: null, connected_at: now, updated_at: now }
  await ctx.db
    .insertInto('connections')
    .values({ port, created_at: now, ...row })
    .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet(row))
    .execute()
  return (port === 'ecommerce' ? await ecommerce(ctx) : await mailingList(ctx))!.store
}

async function forgetAll(): Promise<void> {
  await app.database.query('delete from connection_health', [])
  await app.database.query('delete from provider_health', [])
}

const standing = async (ctx: Context, { port, provider }: Adapter) =>
  (await readStandings(ctx)).find((each) => each.port === port && each.provider === provider)

test('every port of the server is one that is heard', () => {
  expect([...new Set(all.map(({ port }) => port))].sort()).toEqual([...portNames].sort())
  for (const { adapter } of all) expect(unheard(adapter)).not.toBe(adapter)
})

describe('access that is gone', () => {
  test.each(all.map((each) => [`${each.port}: ${each.provider}`, each] as const))(
    'by any method of %s',
    async (_name, each) => {
      const shop = await store(app)
      const ctx = await shop.context()
      const methods = methodsOf(each.adapter)
      expect(methods.length).toBeGreaterThan(0)
      for (const method of methods) {
        await forgetAll()
        const of = isServers(each.port) ? null : await connected(shop, each.port, each.provider)
        const error = new AccessLost('access-gone', 'It was uninstalled', 'Install it again')
        await callThrowing(each.adapter, method, error, of)
        const { state, code, remedy } = (await standing(ctx, each)) ?? {}
        expect([method, state, code, remedy]).toEqual([method, 'lost', 'access-gone', 'Install it again'])
      }
    },
    60_000,
  )
})

test('a provider that throttles is not in trouble, however often it does', async () => {
  await forgetAll()
  const shop = await store(app)
  const ctx = await shop.context()
  for (const each of all) {
    const of = isServers(each.port) ? null : await connected(shop, each.port, each.provider)
    const [method = ''] = methodsOf(each.adapter)
    const slower = new Throttled(1_000)
    for (const error of [slower, new Unavailable('no', slower.message, { cause: slower })]) {
      for (let times = 0; times < 4; times += 1) await callThrowing(each.adapter, method, error, of)
    }
    expect([each.provider, await standing(ctx, each)]).toEqual([each.provider, undefined])
  }
})

/** Credentials that are being tried, or let go: what becomes of them says nothing of a connection. */
const unkept = [
  'operations/capture/mailing-list/connection.ts',
  'operations/messaging/assistant/',
  'operations/messaging/numbers/releases.ts',
  'operations/messaging/official/confirm.ts',
  'operations/messaging/official/setup.ts',
  'operations/messaging/official/state.ts',
  'operations/messaging/qr/start.ts',
  'operations/messaging/shared/connect.ts',
  'operations/store/connections/connections.ts',
]

test('a store that is handed to an adapter says which connection it is', () => {
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
  expect(without.filter((file) => !unkept.some((each) => file.startsWith(each)))).toEqual([])
  expect(unkept.filter((each) => !without.some((file) => file.startsWith(each)))).toEqual([])
})
