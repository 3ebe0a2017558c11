/** Requests to Shopify's Admin API: a time-out on each, waits for its buckets, retries where they are safe. */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { type Answer, failureOf, graphData, jsonOf } from './answers.ts'
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
  /** Below `/admin/api/<version>/`: `orders.json`. */
  path: string
  query?: Record<string, string | number>
  body?: unknown
}

const retries = 2
/** Failures after which nothing can have changed: nobody was reached. */
const unreached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
/** The REST bucket of the smallest plan empties by two calls a second. */
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
      pauseAtMostMs: 10_000,
      app: null,
      ...options,
    }
    this.#tokens = new Tokens(
      (call) => this.#patiently(`${call.shop} token`, call),
      (store) => this.credentialsOf(store),
      options.clock,
    )
  }

  /** The credentials of a store, read. */
  credentialsOf(store: ProviderStore) {
    return readCredentials(store.credentials, this.#options.domain, this.#options.app)
  }

  /** What the server's app is given for a code. Throws `Refused` for one that is no longer good. */
  install(shop: string, app: ShopifyApp, code: string) {
    return this.#tokens.install(shop, app, code)
  }

  /**
   * Answers the JSON, and the `page_info` of the next page or null. Throws `Refused`, `Throttled`, `Unavailable`; a
   * write is sent once, unless it surely was not taken.
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
    return { body: (text === '' ? {} : jsonOf(text, isRead)) as T, next: nextPage(headers.get('link')) }
  }

  /** Answers the data of a query or a mutation. Throws as `rest`; what its `userErrors` say is the caller's to read. */
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

  /** With the store's token; one that has run out is asked for once more. */
  async #authorized(
    store: ProviderStore,
    bucket: 'rest' | 'graph',
    call: Omit<Call, 'shop' | 'headers'>,
  ): Promise<Answer & { data?: unknown }> {
    const { shop } = this.credentialsOf(store)
    let token = ''
    const ask = async (refused: string | null) => {
      token = await this.#tokens.of(store, refused)
      return this.#patiently(`${shop} ${bucket}`, {
        ...call,
        shop,
        headers: { 'x-shopify-access-token': token },
      })
    }
    try {
      return await ask(null)
    } catch (error) {
      // Without a token it was not asked at all.
      if (!(error instanceof BadCredentials) || token === '' || !this.#tokens.canRenew(store)) throw error
      return ask(token)
    }
  }

  async #patiently(bucket: string, call: Call): Promise<Answer & { data?: unknown }> {
    const { pauseAtMostMs, retryDelayMs } = this.#options
    const deadline = performance.now() + pauseAtMostMs
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
      throw failureOf(answer, call.isRead, namesAnObject(call.path))
    if (isFull(answer.headers.get('x-shopify-shop-api-call-limit'))) this.#gate.close(bucket, oneCallMs)
    return call.path.endsWith('/graphql.json')
      ? { ...answer, data: graphData(answer.text, call.isRead) }
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
  return typeof cause?.code === 'string' && unreached.has(cause.code)
}

/** Below `/admin/api/<version>/`: `script_tags/1.json` does, `shop.json` and `graphql.json` do not. */
const namesAnObject = (path: string): boolean => path.startsWith('/admin/api/') && path.split('/').length > 5

/** `39/40`: the next call would be one too many, unless it waits. */
function isFull(limit: string | null): boolean {
  const [used, all] = (limit ?? '').split('/').map(Number)
  return used !== undefined && all !== undefined && used >= all
}

/** The `page_info` of `<…?page_info=…&limit=250>; rel="next"`. */
export function nextPage(link: string | null): string | null {
  const next = (link ?? '').split(',').find((part) => /rel="?next"?/.test(part))
  const address = /<([^<>]+)>/.exec(next ?? '')?.[1]
  return address ? (URL.parse(address)?.searchParams.get('page_info') ?? null) : null
}
