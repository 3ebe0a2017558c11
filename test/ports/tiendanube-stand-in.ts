/**
 * Tiendanube's API as far as the adapter uses it, in memory, behind real HTTP, written from its public documentation
 * (tiendanube-facts.md): tokens, headers, pages, the leaky bucket, webhooks signed and delivered.
 */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiVersion } from '#operations/store/ecommerce/tiendanube/http/options'
import type { Clock } from '#runtime/clock'
import { frozenClock } from '#test/support/test-clock'
import { Bucket } from './shopify-stand-in/bucket.ts'
import { type ApiAnswer, answerList, fail, lists } from './tiendanube-stand-in/lists.ts'
import { answerObject } from './tiendanube-stand-in/objects.ts'
import { Shop } from './tiendanube-stand-in/shop.ts'

export const app = { clientId: '1234', clientSecret: 'an app secret' }
export const scriptId = 4321
export const allScopes = ['read_products', 'read_customers', 'write_orders', 'write_coupons', 'write_scripts']

/** Injected into the next matching request: a status, no answer after it is processed, or a broken connection. */
export interface Fault {
  fits?: RegExp
  is: { status: number; headers?: Record<string, string>; body?: string } | 'drop' | 'late'
}

const scopesByResource: Readonly<Record<string, string>> = {
  products: 'products',
  categories: 'products',
  customers: 'customers',
  orders: 'orders',
  checkouts: 'orders',
  coupons: 'coupons',
}

export class TiendanubeStandIn {
  readonly shop: Shop
  /** Such as `GET products`. */
  readonly requests: string[] = []
  readonly faults: Fault[] = []
  readonly codes = new Map<string, string[]>()
  accessToken = 'a token of the shop'
  scopes = [...allScopes]
  throttled = 0
  isDown = false
  isUnpaid = false
  hasLinks = true
  endpoint = ''
  #lastCode = 0
  readonly #bucket: Bucket
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  constructor({
    bucket = [4000, 400],
    clock = frozenClock(),
  }: { bucket?: [number, number]; clock?: Clock } = {}) {
    this.shop = new Shop(clock)
    this.#bucket = new Bucket(...bucket)
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

  /** The owner agrees to the permissions of the app. Answers the code. */
  agree(scopes: string[] = [...allScopes]): string {
    this.#lastCode += 1
    const code = `code${this.#lastCode}`
    this.codes.set(code, scopes)
    return code
  }

  /** The webhook requests to this address for an event; empty if it is not registered. */
  deliveries(event: string, id: number, url: string): { headers: Headers; body: Uint8Array }[] {
    return this.shop.webhooks
      .filter((each) => each.event === event && each.url === url)
      .map(() => this.sign({ store_id: this.shop.id, event, id }))
  }

  sign(content: object, secret = app.clientSecret): { headers: Headers; body: Uint8Array } {
    const body = new TextEncoder().encode(JSON.stringify(content))
    const hmac = createHmac('sha256', secret).update(body).digest('hex')
    return {
      headers: new Headers({ 'content-type': 'application/json', 'x-linkedstore-hmac-sha256': hmac }),
      body,
    }
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    const url = new URL(request.url!, this.endpoint)
    const what = `${request.method} ${url.pathname.replace(`/api/${apiVersion}/${this.shop.id}/`, '')}`
    this.requests.push(what)
    const at = this.faults.findIndex(({ fits }) => !fits || fits.test(what))
    const fault = this.isDown ? { status: 503 } : this.faults.splice(at, at < 0 ? 0 : 1)[0]?.is
    if (fault === 'drop') return void response.socket?.destroy()
    if (fault && fault !== 'late')
      return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
    const { status, headers = {}, body } = this.#answer(request, url, text)
    // Processed, but the answer is never sent.
    if (fault === 'late') return
    if (status === 429) this.throttled += 1
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(status === 204 ? '' : JSON.stringify(body))
  }

  #answer(request: IncomingMessage, url: URL, text: string): ApiAnswer {
    const { headers, method = 'GET' } = request
    const { pathname } = url
    if (!/^.+ \(.+\)$/.test(headers['user-agent'] ?? '')) {
      return fail(400, 'Bad Request', 'Missing a valid User-Agent header')
    }
    let body: Record<string, unknown> | null
    try {
      body = text === '' ? null : (JSON.parse(text) as Record<string, unknown>)
    } catch {
      return { status: 400, body: { error: 'Problems parsing JSON' } }
    }
    if (body && !headers['content-type']?.startsWith('application/json')) {
      return fail(415, 'Unsupported Media Type', 'Content-Type must be application/json')
    }
    if (pathname === '/www/apps/authorize/token') return this.#giveToken(body ?? {})
    const below = `/api/${apiVersion}/${this.shop.id}/`
    if (!pathname.startsWith(below)) return fail(404, 'Not Found', 'Unknown version or store')
    if (headers.authentication !== `bearer ${this.accessToken}`) {
      return fail(401, 'Unauthorized', 'Invalid access token')
    }
    if (this.isUnpaid) return fail(402, 'Payment Required', 'The store is suspended')
    if (!this.#bucket.take(1)) {
      return { ...fail(429, 'Too Many Requests', 'Too many requests'), headers: this.#limit() }
    }
    const path = pathname.slice(below.length)
    const [resource = ''] = path.split('/')
    const lacking = this.#findLackingScope(method, resource)
    if (lacking) return fail(403, 'Forbidden', `Missing a required scope: ${lacking}`)
    const answer =
      method === 'GET' && Object.hasOwn(lists, path)
        ? answerList(this.shop, path, url.searchParams, {
            base: `https://api.tiendanube.com${pathname}`,
            hasLinks: this.hasLinks,
          })
        : answerObject(this.shop, { method, path, query: url.searchParams, body, scriptId })
    return { ...answer, headers: { ...this.#limit(), ...answer.headers } }
  }

  #findLackingScope(method: string, resource: string): string | null {
    if (resource === 'scripts') return this.scopes.includes('write_scripts') ? null : 'write_scripts'
    const name = scopesByResource[resource]
    if (!name || this.scopes.includes(`write_${name}`)) return null
    const needed = method === 'GET' ? `read_${name}` : `write_${name}`
    return this.scopes.includes(needed) ? null : needed
  }

  /** A code is taken once. A new token ends the one before. */
  #giveToken(body: Record<string, unknown>): ApiAnswer {
    const { client_id: id, client_secret: secret, grant_type: grant, code } = body
    const scopes = this.codes.get(String(code))
    if (grant !== 'authorization_code' || id !== app.clientId || secret !== app.clientSecret || !scopes) {
      return { status: 400, body: { error: 'invalid_grant', error_description: 'The code has expired' } }
    }
    this.codes.delete(String(code))
    this.scopes = scopes
    this.accessToken = `token for ${code}`
    const token = { access_token: this.accessToken, token_type: 'bearer', scope: scopes.join(',') }
    return { status: 200, body: { ...token, user_id: String(this.shop.id) } }
  }

  #limit(): Record<string, string> {
    return {
      'x-rate-limit-limit': String(this.#bucket.size),
      'x-rate-limit-remaining': String(Math.floor(this.#bucket.left)),
      'x-rate-limit-reset': String(Math.ceil((this.#bucket.used / this.#bucket.perSecond) * 1000)),
    }
  }
}
