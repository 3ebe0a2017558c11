/**
 * Rules for ALL operations, tested on each through the whole gateway. A new operation file is covered automatically.
 */
import { TrieRouter } from 'hono/router/trie-router'
import { parseList } from 'structured-headers'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildExample } from '#runtime/documents/example'
import { publish } from '#runtime/documents/publish'
import { getIfMatchReaders } from '#runtime/gateway/if-match'
import { sortByRoute } from '#runtime/http/api'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { loadRegistry } from '#runtime/registry/registry'
import { allScopes, type Role, type Scope } from '#runtime/roles'
import { freeObject, z } from '#runtime/schema'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type Person, type Shop, store } from '#test/support/store'
import surface from './surface.json' with { type: 'json' }

const app = await testApp()
const registry = await loadRegistry()
const operations = registry.operations.map((operation) => [operation.id, operation] as const)
const guarded = operations.filter(([, operation]) => !operation.spec.public)

let shop: Shop
let starter: Shop
let growth: Shop
let paused: Shop
/** Stores by subscription state. */
const inTime: Record<string, Shop> = {}
const over: Record<string, Shop> = {}
const people = {} as Record<Role, Person>

beforeAll(async () => {
  shop = await store(app)
  starter = await store(app, { plan: 'starter' })
  growth = await store(app, { plan: 'growth' })
  paused = await store(app)
  people.agent = await shop.person('agent')
  people.member = await shop.person('member')
  people.owner = { userId: shop.userId, email: shop.email, key: shop.key }
  const soon = new Date(app.clock.ms() + 86_400_000)
  const gone = new Date(app.clock.ms() - 1)
  const withStatus = async (change: object): Promise<Shop> => {
    const made = await store(app)
    const rows = app.database.root.updateTable('subscriptions').set(change).where('store_id', '=', made.id)
    await rows.execute()
    return made
  }
  inTime.trialing = await store(app, { plan: null })
  inTime.pastDue = await withStatus({ status: 'past-due', grace_ends_at: soon })
  inTime.cancelled = await withStatus({ status: 'cancelled', ends_at: soon })
  paused = await withStatus({ status: 'paused', paused_at: app.clock.now() })
  over.graceOver = await withStatus({ status: 'past-due', grace_ends_at: gone })
  over.trialOver = await withStatus({ status: 'trialing', plan_id: 'trial', trial_ends_at: gone })
  over.cancelledOver = await withStatus({ status: 'cancelled', ends_at: gone })
})

/** A valid request: unknown ids, and the example or a generated body. */
function buildRequest({ spec }: LoadedOperation): {
  params: Record<string, string>
  query: Record<string, string>
  body?: unknown
} {
  const params = Object.fromEntries(
    [...spec.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => [
      name!,
      spec.example?.params?.[name!] ?? newId(1),
    ]),
  )
  const query = (spec.example?.query ?? {}) as Record<string, string>
  if (!spec.input?.body) return { params, query }
  return { params, query, body: spec.example?.body ?? buildExample(publish(spec.input.body)) }
}

const send = (from: Shop, operation: LoadedOperation, changes: Record<string, unknown> = {}) => {
  const request = { ...buildRequest(operation), ...changes }
  const path = operation.spec.path.replace(/:([A-Za-z]+)/g, (_all, name: string) =>
    encodeURIComponent(request.params[name]!),
  )
  return from.request(operation.spec.method, path, request)
}

const routes = new TrieRouter<LoadedOperation>()
for (const operation of sortByRoute(registry.operations))
  routes.add(operation.spec.method, operation.spec.path, operation)
const isAddress = (method: string, path: string): boolean =>
  routes.match(method, new URL(`http://localhost${path}`).pathname)[0].length > 0

test('the operations match the specification', () => {
  const sections = new Set(registry.sections.map((section) => section.title))
  const expected = surface.filter((row) => sections.has(row.section))
  const actual = registry.operations.map((operation) => ({
    id: operation.id,
    method: operation.spec.method,
    path: operation.spec.path,
    section: operation.section.title,
    scopes: operation.spec.scopes,
    readOnly: operation.spec.readOnly,
    success: operation.spec.answer.status,
    feature: operation.spec.feature ?? null,
    ...(operation.spec.public ? { public: true } : {}),
  }))
  const known = new Set(surface.map(({ id }) => id))
  const isNew = actual.filter(({ id }) => !known.has(id))
  expect(
    isNew,
    'An operation that `/v1` gains is a line of test/registry/surface.json: add what is listed here to it',
  ).toEqual([])
  expect(actual).toEqual(expected)
})

describe.each(operations)('%s', (_id, operation) => {
  const { spec } = operation

  test('its own path is routed to it', () => {
    const address = spec.path.replace(/:[A-Za-z]+/g, 'some-value')
    const [first] = routes.match(spec.method, address)[0]
    expect(first?.[0].id).toBe(operation.id)
  })

  test('every answer has rate limit headers and a request id', async () => {
    const { headers, status } = await send(shop, operation, { key: null })
    expect(status).toBe(spec.public ? spec.answer.status : 401)
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id']) {
      expect(headers.get(name), name).toBeTruthy()
    }
    for (const name of ['ratelimit', 'ratelimit-policy'])
      expect(parseList(headers.get(name)!)).toHaveLength(1)
  })

  test('unknown query parameters are refused by name', async () => {
    const { status, body } = await send(shop, operation, {
      query: { ...buildRequest(operation).query, surprise: '1' },
    })
    expect(status).toBe(400)
    expect(body.error.message).toContain('surprise')
  })

  test('invalid query parameters are refused by name', async () => {
    const schema = spec.input?.query ? publish(spec.input.query) : { properties: {} }
    for (const [name, property] of Object.entries(schema.properties as Record<string, Property>)) {
      const bad = buildInvalidText(property)
      if (bad === null) continue
      const { status, body } = await send(shop, operation, {
        query: { ...buildRequest(operation).query, [name]: bad },
      })
      expect([status, name], JSON.stringify(body)).toEqual([400, name])
      expect(body.error.message).toContain(name)
    }
  })
})

describe.each(guarded)('%s', (_id, operation) => {
  const { spec } = operation

  test('each of its scopes is required', async () => {
    for (const missing of spec.scopes) {
      const others = allScopes.filter((scope) => scope !== missing)
      const legal = missing === 'platform:write' ? (['platform:read'] as Scope[]) : others
      const { status, body } = await send(shop, operation, { key: await createKey(legal) })
      expect(status, missing).toBe(403)
      expect(body.error).toMatchObject({ code: 'forbidden', message: expect.stringContaining(missing) })
    }
  })

  test('its role is required', async () => {
    for (const role of ['agent', 'member'] as const) {
      const { status, body } = await send(shop, operation, { key: people[role].key })
      const may = rank[role] >= rank[operation.minimumRole]
      expect(status === 403 && /role/.test(body?.error?.message ?? ''), role).toBe(!may)
    }
  })

  test('its feature must be in the plan', async () => {
    if (!spec.feature) return
    const { feature } = spec
    const included = ['statistics', 'messaging', 'automations', 'newsletter', 'contact-form', 'reviews']
    included.push(
      'testimonials',
      'stock-alerts',
      'installments',
      'storefront-bars',
      'product-content',
      'size-guides',
    )
    const isRefused = async (from: Shop): Promise<boolean> => {
      const { status, body } = await send(from, operation)
      if (status !== 403 || !/^The plan /.test(body.error.message)) return false
      expect(body.error).toMatchObject({ code: 'forbidden', message: expect.stringContaining(feature) })
      return true
    }
    expect(await isRefused(starter)).toBe(!included.includes(feature))
    expect(await isRefused(growth)).toBe(feature === 'chat-agent')
    expect(await isRefused(shop)).toBe(false)
    expect(await isRefused(inTime.trialing!)).toBe(false)
  })

  test('an ended subscription can read and only write where allowed; in grace everything works', async () => {
    const isRefused = async (from: Shop): Promise<boolean> => {
      const { status, body } = await send(from, operation)
      if (status !== 403 || !/^The subscription is (paused|ended)/.test(body.error.message)) return false
      expect(body.error.code).toBe('forbidden')
      return true
    }
    const isClosed = !spec.readOnly && !spec.whilePaused
    for (const [name, from] of Object.entries({ paused, ...over })) {
      expect([name, await isRefused(from)]).toEqual([name, isClosed])
    }
    if (!isClosed) return
    for (const [name, from] of Object.entries(inTime)) {
      expect([name, await isRefused(from)]).toEqual([name, false])
    }
  })

  test('while paused, only subscription, team and notification operations can write', () => {
    const isBelow = /^\/(subscription|stores\/team|notifications)(\/|$)/.test(spec.path)
    expect(spec.readOnly || (spec.whilePaused ?? false) === isBelow).toBe(true)
  })

  test('unknown ids are not found', async () => {
    if (operation.parameters.length === 0) return
    for (const id of [newId(1), 'not-an-id', '..', "' or 1=1 --", 'x'.repeat(3000)]) {
      const params = Object.fromEntries(operation.parameters.map((name) => [name, id]))
      // `..` goes up a folder, which may be the path of another operation.
      if (id === '..' && isAddress(spec.method, spec.path.replace(/:\w+/g, id))) continue
      const { status, body } = await send(shop, operation, { params })
      expect([id.slice(0, 20), status], JSON.stringify(body)).toEqual([id.slice(0, 20), 404])
      if (getIfMatchReaders(registry.operations, operation).length === 0) continue
      // The gateway reads the resource for `If-Match` before the operation starts.
      const compared = await send(shop, operation, { params, headers: { 'if-match': '"stale"' } })
      // 409 if a store has exactly one such resource, whatever the id in the path.
      expect([id.slice(0, 20), compared.status], 'If-Match').toEqual([
        id.slice(0, 20),
        expect.toBeOneOf([404, 409]),
      ])
    }
  })

  test('invalid path text is refused by name', async () => {
    for (const name of operation.parameters) {
      for (const odd of ['\0', 'a\x7f', 'a\nb', 'a\u0001']) {
        const params = Object.fromEntries(
          operation.parameters.map((each) => [each, each === name ? odd : 'x']),
        )
        const { status, body } = await send(shop, operation, { params })
        expect([odd, status], JSON.stringify(body)).toEqual([odd, 400])
        expect(body.error.message).toContain(`${name}: `)
      }
    }
  })

  test('unknown fields of the body are refused by name', async () => {
    if (spec.method === 'GET') return
    const { body: known } = buildRequest(operation)
    if (spec.input?.body && isFree(spec.input.body)) return
    const { status, body } = await send(shop, operation, { body: { ...(known as object), surprise: 1 } })
    expect(status).toBe(400)
    expect(body.error.message).toContain('surprise')
  })

  test('fields of the wrong type are refused by name, and no body causes a 503', async () => {
    if (spec.method === 'GET') return
    for (const raw of [
      '{',
      '[]',
      '"text"',
      '1',
      'null',
      'true',
      '{"a":9007199254740993}',
      '{"a":',
      '{"__proto__":{"a":1}}',
      '{"constructor":1}',
      '\u0000',
    ]) {
      const { status, body } = await send(shop, operation, { body: raw })
      expect([raw, status], JSON.stringify(body)).toEqual([raw, 400])
    }
    const schema = spec.input?.body
    if (!(schema instanceof z.ZodObject)) return
    const published = publish(schema).properties as Record<string, Property>
    for (const [name, property] of Object.entries(published)) {
      if (property.readOnly) continue
      const wrong = buildInvalidValue(property)
      if (wrong === undefined) continue
      const known = buildRequest(operation).body as object
      const { status, body } = await send(shop, operation, { body: { ...known, [name]: wrong } })
      expect([name, status], JSON.stringify(body)).toEqual([name, 400])
      expect(body.error.message).toContain(name)
    }
  })

  test('an invalid Idempotency-Key is refused', async () => {
    if (spec.readOnly || operation.parameters.length > 0) return
    const { status } = await send(shop, operation, { headers: { 'idempotency-key': 'x'.repeat(256) } })
    expect(status).toBe(400)
  })
})

const rank = { agent: 0, member: 1, owner: 2 }
const isFree = (schema: z.ZodTypeAny): boolean =>
  schema === freeObject ||
  schema instanceof z.ZodRecord ||
  (schema instanceof z.ZodObject && !(schema._def.catchall instanceof z.ZodNever))

const keys = new Map<string, string>()
async function createKey(scopes: readonly Scope[]): Promise<string> {
  const name = scopes.join()
  if (!keys.has(name)) keys.set(name, await shop.key_(scopes))
  return keys.get(name)!
}

type Property = {
  readOnly?: boolean
  type?: unknown
  enum?: unknown[]
  anyOf?: Property[]
  format?: string
  pattern?: string
  maxLength?: number
}

/** Query text that the property refuses; null if it accepts any. */
function buildInvalidText(property: Property): string | null {
  if (
    property.enum ||
    property.type === 'boolean' ||
    property.type === 'integer' ||
    property.type === 'number'
  ) {
    return 'certainly wrong'
  }
  if (property.maxLength !== undefined) return 'x'.repeat(property.maxLength + 1)
  if (property.pattern) return new RegExp(property.pattern, 'u').test('?') ? null : '?'
  return property.format ? '?' : null
}

/** A value that the property refuses; undefined if it accepts any. */
function buildInvalidValue(property: Property): unknown {
  const types = [property, ...(property.anyOf ?? [])].flatMap((each) => each.type ?? [])
  if (types.length === 0) return undefined
  if (!types.includes('object')) return { wrong: true }
  return types.includes('string') ? [1] : 'certainly wrong'
}
