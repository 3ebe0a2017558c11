/** HTTP client of Tiendanube's API, with timeouts, rate limit waits and safe retries. */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import { type Answer, parseJson, toError } from './answers.ts'
import { apiVersion, readCredentials, type TiendanubeOptions } from './options.ts'

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below the store's, such as `orders`. */
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
}

export interface ListPage<T> {
  rows: T[]
  /** How many rows there are on all pages. */
  total: number
  /** The number of the next page; null: this is the last one. */
  next: number | null
}

interface Call {
  url: string
  /** The bucket of the rate limit, which counts for each shop. */
  bucket: string
  method: string
  headers: Record<string, string>
  body?: unknown
  /** True if the call has no side effects, so it can be retried. */
  isRead: boolean
}

const retries = 2
/** The most rows of a page. */
export const pageSize = 200
const defaultPageSize = 30
/** Codes of connection errors after which the request certainly did not reach Tiendanube. */
const unreachedCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
/** The bucket of the smallest plan leaks two requests a second. */
const oneCallMs = 500

export class TiendanubeClient {
  readonly #options: Required<Omit<TiendanubeOptions, 'clock' | 'db' | 'cartUrl'>>
  /** When each full bucket has room again, in `performance.now()` time. */
  readonly #closedUntil = new Map<string, number>()

  constructor(options: TiendanubeOptions) {
    this.#options = {
      app: null,
      scriptId: null,
      endpoint: (host) => `https://${host}.${options.domain}`,
      timeoutMs: 10_000,
      retryDelayMs: 250,
      maxPauseMs: 10_000,
      ...options,
    }
  }

  parseCredentials(store: ProviderStore) {
    return readCredentials(store.credentials, this.#options.app)
  }

  /**
   * Calls the API, and returns the JSON. Throws `Refused`, `Throttled`, `Unavailable`. Retries a write only if the failed
   * attempt certainly had no effect.
   */
  async call<T>(store: ProviderStore, request: ApiRequest): Promise<T> {
    const { text } = await this.#ask(store, request)
    return (text === '' ? {} : parseJson(text, isRead(request))) as T
  }

  /** Like `call`, but null if there is no such object. */
  async find<T>(store: ProviderStore, request: ApiRequest): Promise<T | null> {
    return this.call<T>(store, request).catch(nullIfNotFound)
  }

  /** Reads a page of a list. Tiendanube answers 404 for a page behind the last one, and for a list without rows. */
  async list<T>(store: ProviderStore, request: ApiRequest): Promise<ListPage<T>> {
    const answer = await this.#ask(store, request).catch(nullIfNotFound)
    if (!answer) return { rows: [], total: 0, next: null }
    const rows = parseJson(answer.text, true) as T[]
    const total = Number(answer.headers.get('x-total-count') ?? rows.length)
    const { page = 1, per_page: perPage = defaultPageSize } = request.query ?? {}
    // Without links the total still says whether there are more.
    const hasMore = rows.length > 0 && Number(page) * Number(perPage) < total
    const next = readNextPage(answer.headers.get('link')) ?? (hasMore ? Number(page) + 1 : null)
    return { rows, total, next }
  }

  /** Reads all pages of a list, of `atMost` rows. Throws `Refused` with the code `too-many` if there are more. */
  async listAll<T>(store: ProviderStore, request: ApiRequest, atMost = 10_000): Promise<T[]> {
    const all: T[] = []
    const read = (page: string | null) =>
      this.list<T>(store, { ...request, query: { ...request.query, page: page ?? 1, per_page: pageSize } })
    for await (const { rows, total } of readPages(read, ({ next }) => next?.toString())) {
      all.push(...rows)
      if (total > atMost || all.length > atMost) throw new Refused('too-many', 'There are too many to read')
    }
    return all
  }

  /** Exchanges an authorization code. */
  async exchange(body: Record<string, string>): Promise<Record<string, unknown>> {
    const url = `${this.#options.endpoint('www')}/apps/authorize/token`
    const call: Call = { url, bucket: 'token', method: 'POST', headers: this.#headers(), body, isRead: false }
    const { text } = await this.#sendWithRetry(call)
    return parseJson(text, true) as Record<string, unknown>
  }

  #headers(): Record<string, string> {
    return { accept: 'application/json', 'user-agent': `Merchant API (${this.#options.contact})` }
  }

  #ask(store: ProviderStore, request: ApiRequest): Promise<Answer> {
    const { storeId, accessToken } = this.parseCredentials(store)
    const { method = 'GET', path, query = {}, body } = request
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.set(name, String(value))
    }
    const base = `${this.#options.endpoint('api')}/${apiVersion}/${storeId}/${path}`
    return this.#sendWithRetry({
      url: search.size > 0 ? `${base}?${search}` : base,
      bucket: storeId,
      method,
      // Not `Authorization`, and in lower case.
      headers: { ...this.#headers(), authentication: `bearer ${accessToken}` },
      body,
      isRead: isRead(request),
    })
  }

  async #sendWithRetry(call: Call): Promise<Answer> {
    const { maxPauseMs, retryDelayMs } = this.#options
    const deadline = performance.now() + maxPauseMs
    for (let failures = 0; ; ) {
      await this.#waitForBucket(call.bucket, deadline)
      try {
        return await this.#once(call)
      } catch (error) {
        if (error instanceof Throttled) {
          this.#closedUntil.set(call.bucket, performance.now() + error.retryAfterMs)
          continue
        }
        if (!(error instanceof Unavailable) || error instanceof AccessLost) throw error
        if (error.accepted === 'unknown' || failures === retries) throw error
        await wait(retryDelayMs * 2 ** failures)
        failures += 1
      }
    }
  }

  /** Waits while the shop's bucket is full. Throws `Throttled` if it stays full beyond the deadline. */
  async #waitForBucket(bucket: string, deadline: number): Promise<void> {
    for (let until = this.#closedUntil.get(bucket); until !== undefined; ) {
      const remainingMs = Math.ceil(until - performance.now())
      if (remainingMs <= 0) {
        this.#closedUntil.delete(bucket)
        return
      }
      if (until > deadline) throw new Throttled(remainingMs)
      await wait(remainingMs)
      until = this.#closedUntil.get(bucket)
    }
  }

  async #once(call: Call): Promise<Answer> {
    const answer = await this.#send(call)
    if (answer.status < 200 || answer.status > 299) throw toError(answer, call.isRead)
    if (answer.headers.get('x-rate-limit-remaining') === '0') {
      this.#closedUntil.set(call.bucket, performance.now() + oneCallMs)
    }
    return answer
  }

  async #send({ url, method, headers, body, isRead }: Call): Promise<Answer> {
    try {
      const response = await fetch(url, {
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(this.#options.timeoutMs),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    } catch (error) {
      const accepted = isRead || wasUnreached(error) ? 'no' : 'unknown'
      throw new Unavailable(accepted, 'Tiendanube did not answer', { cause: error })
    }
  }
}

const isRead = ({ method = 'GET' }: ApiRequest): boolean => method === 'GET'

function wasUnreached(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } }
  return typeof cause?.code === 'string' && unreachedCodes.has(cause.code)
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof Refused && error.code === 'not-found') return null
  throw error
}

/** Extracts the page from a `link` header such as `<…?page=3&per_page=100>; rel="next", <…>; rel="last"`. */
export function readNextPage(link: string | null): number | null {
  const next = (link ?? '').split(',').find((part) => /rel="?next"?/.test(part))
  const address = /<([^<>]+)>/.exec(next ?? '')?.[1]
  const page = Number(address ? URL.parse(address)?.searchParams.get('page') : null)
  return Number.isInteger(page) && page > 1 ? page : null
}
