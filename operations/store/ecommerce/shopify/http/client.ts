/**
 * Client of Shopify's GraphQL Admin API, with timeouts, rate limit waits and safe retries. Shopify's own client
 * (`@shopify/admin-api-client`) is not used: it has one token for its lifetime and no time limit, repeats mutations after a
 * 503, and does not read the cost.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { AccessLost, Throttled, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import type { Document } from '../documents/documents.ts'
import { type Answer, parseGraphAnswer, toError } from './answers.ts'
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

const retries = 2
/** Codes of connection errors after which the request certainly did not reach Shopify. */
const unreachedCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

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
      (call) => this.#repeat(`${call.shop} token`, 'token', () => this.#once(call)),
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
   * Returns the data of a GraphQL query or mutation. The caller must check `userErrors`. Throws `Refused`, `Throttled`,
   * `Unavailable`. Retries a write only if the failed attempt certainly had no effect.
   */
  graph<Data, Variables extends object>(
    store: ProviderStore,
    document: Document<Data, Variables>,
    ...[variables]: Variables extends Record<string, never> ? [] : [variables: Variables]
  ): Promise<Data> {
    return this.#ask(store, document, variables ?? {}, false) as Promise<Data>
  }

  /** Reads like `graph`, but fields that Shopify withholds from the app are null, even if their type says otherwise. */
  graphVisible<Data, Variables extends object>(
    store: ProviderStore,
    document: Document<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    return this.#ask(store, document, variables, true) as Promise<Data>
  }

  /** Sends a document with the store's access token. If Shopify rejects the token, renews it and tries once more. */
  async #ask(store: ProviderStore, query: string, variables: object, isPartial: boolean): Promise<unknown> {
    const { shop } = this.parseCredentials(store)
    const isRead = !/^\s*mutation\b/.test(query)
    let token = ''
    const ask = async (refused: string | null) => {
      token = await this.#tokens.get(store, refused)
      const call: Call = {
        shop,
        method: 'POST',
        path: `/admin/api/${apiVersion}/graphql.json`,
        headers: { 'x-shopify-access-token': token },
        body: { query, variables },
        isRead,
      }
      return this.#repeat(`${shop} graph`, query, async () => {
        const { text } = await this.#once(call)
        const { data, cost } = parseGraphAnswer(text, { isRead, isPartial })
        if (cost) this.#gate.record(`${shop} graph`, query, cost)
        return data
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

  /** Calls until there is an answer, waiting for the bucket before each call. */
  async #repeat<T>(bucket: string, document: string, call: () => Promise<T>): Promise<T> {
    const { maxPauseMs, retryDelayMs } = this.#options
    const deadline = performance.now() + maxPauseMs
    for (let failures = 0; ; ) {
      await this.#gate.pass(bucket, deadline, document)
      try {
        return await call()
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

  async #once(call: Call): Promise<Answer> {
    const answer = await this.#send(call)
    if (answer.status < 200 || answer.status > 299) throw toError(answer, call.isRead)
    return answer
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
