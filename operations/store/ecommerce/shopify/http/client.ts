/** HTTP client of Shopify's Admin API, with timeouts, rate limit waits and safe retries. */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { type Answer, parseGraphData, parseJson, toError } from './answers.ts'
import type { Call } from './call.ts'
import { Gate } from './gate.ts'
import {
  apiVersion,
  BadCredentials,
  readCredentials,
  type ShopifyApp,
  type ShopifyOptions,
} from './options.ts'
import { Tokens } from './tokens.ts'

export interface RestRequest {
  method?: 'GET' | 'POST' | 'DELETE'
  /** The path below `/admin/api/<version>/`, such as `orders.json`. */
  path: string
  query?: Record<string, string | number>
  body?: unknown
}

const retries = 2
/** Codes of connection errors after which the request certainly did not reach Shopify. */
const unreachedCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
/** The REST bucket of the smallest plan leaks two calls per second. */
const oneCallMs = 500

export class ShopifyClient {
  readonly #options: Required<Omit<ShopifyOptions, 'clock'>>
  readonly #gate = new Gate()
  readonly #tokens: Tokens

  constructor(options: ShopifyOptions) {
    this.#options = {
      endpoint: (shop) => `https://${shop}`,
      timeoutMs: 10_000,
      retryDelayMs: 250,
      maxPauseMs: 10_000,
      app: null,
      ...options,
    }
    this.#tokens = new Tokens(
      (call) => this.#sendWithRetry(`${call.shop} token`, call),
      (store) => this.parseCredentials(store),
      options.clock,
    )
  }

  parseCredentials(store: ProviderStore) {
    return readCredentials(store.credentials, this.#options.domain, this.#options.app)
  }

  /** Exchanges an authorization code for the server's app. Throws `Refused` for an expired code. */
  install(shop: string, app: ShopifyApp, code: string) {
    return this.#tokens.install(shop, app, code)
  }

  /**
   * Calls the REST API. Returns the JSON, and the `page_info` of the next page or null. Throws `Refused`, `Throttled`,
   * `Unavailable`. Retries a write only if the failed attempt certainly had no effect.
   */
  async rest<T>(store: ProviderStore, request: RestRequest): Promise<{ body: T; next: string | null }> {
    const { method = 'GET', path, query = {}, body } = request
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) search.set(name, String(value))
    const isRead = method === 'GET'
    const { text, headers } = await this.#authorized(store, 'rest', {
      method,
      path: `/admin/api/${apiVersion}/${path}${search.size > 0 ? `?${search}` : ''}`,
      body,
      isRead,
    })
    return { body: (text === '' ? {} : parseJson(text, isRead)) as T, next: nextPage(headers.get('link')) }
  }

  /** Returns the data of a GraphQL query or mutation. Throws like `rest`. The caller must check `userErrors`. */
  async graph<T>(
    store: ProviderStore,
    document: string,
    variables: Record<string, unknown> = {},
  ): Promise<T> {
    const isRead = !/^\s*mutation\b/.test(document)
    const { data } = await this.#authorized(store, 'graph', {
      method: 'POST',
      path: `/admin/api/${apiVersion}/graphql.json`,
      body: { query: document, variables },
      isRead,
    })
    return data as T
  }

  /** Sends a call with the store's access token. If Shopify rejects the token, renews it and tries once more. */
  async #authorized(
    store: ProviderStore,
    bucket: 'rest' | 'graph',
    call: Omit<Call, 'shop' | 'headers'>,
  ): Promise<Answer & { data?: unknown }> {
    const { shop } = this.parseCredentials(store)
    let token = ''
    const ask = async (refused: string | null) => {
      token = await this.#tokens.get(store, refused)
      return this.#sendWithRetry(`${shop} ${bucket}`, {
        ...call,
        shop,
        headers: { 'x-shopify-access-token': token },
      })
    }
    try {
      return await ask(null)
    } catch (error) {
      // With an empty token the error comes from requesting the token: the call was never sent.
      if (!(error instanceof BadCredentials) || token === '' || !this.#tokens.canRenew(store)) throw error
      return ask(token)
    }
  }

  async #sendWithRetry(bucket: string, call: Call): Promise<Answer & { data?: unknown }> {
    const { maxPauseMs, retryDelayMs } = this.#options
    const deadline = performance.now() + maxPauseMs
    for (let failures = 0; ; ) {
      await this.#gate.pass(bucket, deadline)
      try {
        return await this.#once(bucket, call)
      } catch (error) {
        if (error instanceof Throttled) {
          this.#gate.close(bucket, error.retryAfterMs)
          continue
        }
        if (!(error instanceof Unavailable) || error instanceof AccessLost) throw error
        if (error.accepted === 'unknown' || failures === retries) throw error
        await wait(retryDelayMs * 2 ** failures)
        failures += 1
      }
    }
  }

  async #once(bucket: string, call: Call): Promise<Answer & { data?: unknown }> {
    const answer = await this.#send(call)
    if (answer.status < 200 || answer.status > 299)
      throw toError(answer, call.isRead, namesAnObject(call.path))
    if (isFull(answer.headers.get('x-shopify-shop-api-call-limit'))) this.#gate.close(bucket, oneCallMs)
    return call.path.endsWith('/graphql.json')
      ? { ...answer, data: parseGraphData(answer.text, call.isRead) }
      : answer
  }

  async #send({ shop, method, path, headers, body, isRead }: Call): Promise<Answer> {
    const { endpoint, timeoutMs } = this.#options
    try {
      const response = await fetch(endpoint(shop) + path, {
        method,
        headers: {
          accept: 'application/json',
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    } catch (error) {
      throw new Unavailable(isRead || wasUnreached(error) ? 'no' : 'unknown', 'Shopify did not answer', {
        cause: error,
      })
    }
  }
}

function wasUnreached(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } }
  return typeof cause?.code === 'string' && unreachedCodes.has(cause.code)
}

/**
 * Whether a path names an object. Below `/admin/api/<version>/`: true for `script_tags/1.json`, false for `shop.json` and
 * `graphql.json`.
 */
const namesAnObject = (path: string): boolean => path.startsWith('/admin/api/') && path.split('/').length > 5

/** Parses the bucket's fill level, such as `39/40`. If the bucket is full, the next call must wait. */
function isFull(limit: string | null): boolean {
  const [used, all] = (limit ?? '').split('/').map(Number)
  return used !== undefined && all !== undefined && used >= all
}

/** Extracts the `page_info` from a `link` header such as `<…?page_info=…&limit=250>; rel="next"`. */
export function nextPage(link: string | null): string | null {
  const next = (link ?? '').split(',').find((part) => /rel="?next"?/.test(part))
  const address = /<([^<>]+)>/.exec(next ?? '')?.[1]
  return address ? (URL.parse(address)?.searchParams.get('page_info') ?? null) : null
}
