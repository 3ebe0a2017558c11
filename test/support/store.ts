/** A tenant per test: a store, its people, their keys, and calls through the whole gateway. */
import { TestRunner } from 'vitest'
import { addMember } from '#operations/store/profile/stores'
import { type Context, SystemContext } from '#runtime/context'
import type { Operation } from '#runtime/operation'
import { allScopes, type Role, type Scope } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import type { TestApp } from './app.ts'

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  body: any
  headers: Headers
}

export interface CallInput {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean | readonly string[]>
  body?: unknown
  headers?: Record<string, string>
  key?: string | null
}

export interface Person {
  userId: string
  email: string
  key: string
}

export interface Shop extends Person {
  id: string
  slug: string
  publicId: string
  app: TestApp
  /** Calls one operation, as over HTTP. */
  call(operation: Operation, input?: CallInput): Promise<Answer>
  /** Calls a method and path below /v1. */
  request(method: string, path: string, input?: CallInput): Promise<Answer>
  /** Another person with a key. */
  person(role: Role, scopes?: readonly Scope[]): Promise<Person>
  key_(scopes: readonly Scope[], member?: string): Promise<string>
  /** The store's context for logic, outside a transaction. */
  context(): Promise<Context>
}

/**
 * Deletes a store that a test has created: scheduled jobs would process it in all later tests of the file, whose time
 * would grow quadratically. A store created in a hook or at file level stays, and so does one used by other processes.
 */
function removeAfterTest(app: TestApp, storeId: string): void {
  TestRunner.getCurrentTest()?.context.onTestFinished(async () => {
    if (app.isOpen) await app.database.root.deleteFrom('stores').where('id', '=', storeId).execute()
  })
}

let stores = 0

export async function store(
  app: TestApp,
  options: {
    plan?: string | null
    country?: string
    currency?: string
    timezone?: string
    locale?: string
  } = {},
): Promise<Shop> {
  stores += 1
  const slug = `shop-${process.pid}-${stores}`
  const email = `owner@${slug}.example.com`
  const plan = options.plan === null ? undefined : (options.plan ?? 'scale')
  const created = await createStore(app.database, app.clock.now(), {
    slug,
    name: `Shop ${stores}`,
    owner: email,
    ownerName: 'Olivia Owner',
    country: options.country ?? 'BR',
    currency: options.currency ?? 'BRL',
    timezone: options.timezone ?? 'America/Sao_Paulo',
    ...(options.locale ? { locale: options.locale } : {}),
    ...(plan ? { plan } : {}),
  })
  removeAfterTest(app, created.id)
  const keyFor = async (scopes: readonly Scope[], member: string): Promise<string> =>
    (await createKey(app.database, app.clock.now(), { storeId: created.id, member, scopes })).key
  const key = await keyFor(allScopes, email)
  const request: Shop['request'] = async (method, path, input = {}) => {
    const bearer = input.key === undefined ? key : input.key
    const search = toSearch(input.query)
    const response = await app.fetch(
      new Request(`http://localhost/v1${path}${search}`, {
        method,
        headers: {
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
          ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...input.headers,
        },
        ...(input.body === undefined
          ? {}
          : { body: typeof input.body === 'string' ? input.body : JSON.stringify(input.body) }),
      }),
      { ip: '127.0.0.1' },
    )
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers }
  }
  let people = 0
  return {
    id: created.id,
    slug,
    publicId: created.publicId,
    userId: created.ownerId,
    email,
    key,
    app,
    request,
    call: ({ spec }, input = {}) => {
      const path = spec.path.replace(/:([A-Za-z]+)/g, (_all, name: string) =>
        encodeURIComponent(input.params?.[name] ?? `missing-${name}`),
      )
      return request(spec.method, path, input)
    },
    async person(role, scopes = allScopes) {
      people += 1
      const address = `${role}-${people}@${slug}.example.com`
      const userId = await app.database.root.transaction().execute((transaction) =>
        addMember(transaction, app.clock.now(), {
          storeId: created.id,
          email: address,
          name: `${role} ${people}`,
          role,
        }),
      )
      return { userId, email: address, key: await keyFor(scopes, address) }
    },
    key_: (scopes, member = email) => keyFor(scopes, member),
    async context() {
      const system = new SystemContext(app.services, app.services.log, 'test')
      return (await system.forStore(created.id, created.ownerId))!
    },
  }
}

function toSearch(query: CallInput['query']): string {
  if (!query) return ''
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) parameters.append(name, String(each))
  }
  return `?${parameters}`
}
