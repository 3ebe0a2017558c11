/**
 * Shopify's Admin API as far as the adapter uses it, in memory, behind real HTTP, written from its public reference:
 * access tokens, GraphQL with its cost, webhooks signed and delivered. It has no REST.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiVersion } from '#operations/store/ecommerce/shopify/http/options'
import type { Clock } from '#runtime/clock'
import { frozenClock } from '#test/support/test-clock'
import { Bucket } from './shopify-stand-in/bucket.ts'
import { answerGraph } from './shopify-stand-in/graph.ts'
import { Shop } from './shopify-stand-in/shop.ts'
import { app, legacyToken, TokenDesk, type TokenRequest } from './shopify-stand-in/tokens.ts'

/**
 * Injected into the next matching request: a status, no answer (before or after it is processed), or a broken
 * connection.
 */
export interface Fault {
  /** Matches the method and path, or the GraphQL document. */
  fits?: RegExp
  is: { status: number; headers?: Record<string, string>; body?: string } | 'silence' | 'drop' | 'late'
}

const name = 'loja.myshopify.com'

export interface Options {
  /** Points, and points per second. Default: the largest plan's. */
  graph?: [size: number, perSecond: number]
  clock?: Clock
}

export class ShopifyStandIn {
  readonly shop: Shop
  readonly app = app
  readonly name = name
  readonly accessToken = legacyToken
  /** Such as `POST oauth/access_token`, or `graph Products`. */
  readonly requests: string[] = []
  readonly faults: Fault[] = []
  /** Fields of the root such as `customers`, or protected fields such as `Order.email`. */
  readonly deniedFields = new Set<string>()
  readonly desk: TokenDesk
  /** How many answers were throttled. */
  throttled = 0
  isDown = false
  endpoint = ''
  readonly #graph: Bucket
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  constructor({ graph = [20_000, 2000], clock = frozenClock() }: Options = {}) {
    this.shop = new Shop(clock)
    this.desk = new TokenDesk(clock)
    this.#graph = new Bucket(...graph)
  }

  /** The tokens requested with the app's own credentials. */
  get tokens(): string[] {
    return this.desk.tokens
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.endpoint = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  /** The webhook requests to this address for a topic; empty if it is not registered. */
  deliveries(topic: string, object: unknown, url: string): { headers: Headers; body: Uint8Array }[] {
    const body = new TextEncoder().encode(JSON.stringify(object))
    return this.shop.webhooks
      .filter((each) => each.topic === topic && each.address === url)
      .map(() => ({
        headers: new Headers({
          'content-type': 'application/json',
          'x-shopify-topic': topic,
          'x-shopify-hmac-sha256': createHmac('sha256', app.clientSecret).update(body).digest('base64'),
          'x-shopify-shop-domain': name,
          'x-shopify-api-version': apiVersion,
          'x-shopify-webhook-id': randomUUID(),
          'x-shopify-event-id': randomUUID(),
          'x-shopify-triggered-at': this.shop.clock.now().toISOString(),
        }),
        body,
      }))
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request)
    const url = new URL(request.url!, 'http://stand-in')
    const { what, detail } = describeRequest(request.method!, url.pathname, text)
    this.requests.push(what)
    const at = this.faults.findIndex(({ fits }) => !fits || fits.test(`${what} ${detail}`))
    const fault = this.isDown
      ? { status: 503, body: '<html>' }
      : this.faults.splice(at, at < 0 ? 0 : 1)[0]?.is
    if (fault === 'silence') return
    if (fault === 'drop') {
      response.socket?.destroy()
      return
    }
    if (fault && fault !== 'late') {
      response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? '')
      return
    }
    const { status, headers = {}, body } = this.#answer(request, url, text)
    // Processed, but the answer is never sent.
    if (fault === 'late') return
    if (status === 429) this.throttled += 1
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

  #answer(request: IncomingMessage, url: URL, text: string): Answer {
    const { pathname } = url
    if (pathname === '/admin/oauth/access_token') return this.desk.give(JSON.parse(text) as TokenRequest)
    const token = request.headers['x-shopify-access-token'] as string | undefined
    const scopes = this.desk.scopesOf(token)
    if (scopes === null) {
      const errors = '[API] Invalid API key or access token (unrecognized login or wrong password)'
      return { status: 401, body: { errors } }
    }
    const isGraph = pathname === `/admin/api/${apiVersion}/graphql.json` && request.method === 'POST'
    return isGraph ? this.#askGraph(text, scopes) : { status: 404, body: { errors: 'Not Found' } }
  }

  #askGraph(text: string, scopes: readonly string[]): Answer {
    const asked = JSON.parse(text) as { query: string }
    const body = answerGraph(this.shop, { ...asked, scopes }, this.#graph, this.deniedFields)
    if (JSON.stringify(body).includes('"THROTTLED"')) this.throttled += 1
    return { status: 200, body }
  }
}

interface Answer {
  status: number
  headers?: Record<string, string>
  body: unknown
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** The method and path, or the name of a GraphQL operation with its variables. */
function describeRequest(method: string, pathname: string, text: string): { what: string; detail: string } {
  if (!pathname.endsWith('/graphql.json')) {
    return { what: `${method} ${pathname.replace(/^\/admin\//, '')}`, detail: text }
  }
  const { query, variables } = JSON.parse(text) as { query: string; variables: unknown }
  return {
    what: `graph ${/(?:query|mutation)\s+(\w+)/.exec(query)?.[1] ?? ''}`,
    detail: JSON.stringify(variables),
  }
}
