/**
 * Provides access tokens. A custom app has a permanent token. An app of the developer dashboard requests tokens with its
 * credentials; they are cached until they expire. The token of an installation expires after an hour and is renewed once
 * for all processes.
 */

import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { AccessLost, Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { type Answer, parseJson } from './answers.ts'
import type { Call } from './call.ts'
import { BadCredentials, type Installed, type ShopifyApp, type ShopifyCredentials } from './options.ts'

interface CachedToken {
  token: Promise<{ value: string; until: number }>
}

type ClientCredentials = ShopifyCredentials & { kind: 'client' }
type InstalledCredentials = ShopifyCredentials & { kind: 'installed' }

/** A token is no longer used in the last 5 minutes before its expiry. */
const expiryMarginMs = 5 * minuteMs

/** Shopify's response when a code or a refresh token is exchanged. */
interface TokenAnswer {
  access_token?: string
  scope?: string
  expires_in?: number
  refresh_token?: string
  refresh_token_expires_in?: number
}

export class Tokens {
  readonly #ask: (call: Call) => Promise<Answer>
  readonly #read: (store: ProviderStore) => ShopifyCredentials
  readonly #clock: Clock
  readonly #cache = new Map<string, CachedToken>()

  constructor(
    ask: (call: Call) => Promise<Answer>,
    read: (store: ProviderStore) => ShopifyCredentials,
    clock: Clock,
  ) {
    this.#ask = ask
    this.#read = read
    this.#clock = clock
  }

  /**
   * Returns an access token. `refused`: the token that Shopify rejected, which is not returned again. Throws `AccessLost` if
   * there is no other token.
   */
  async get(store: ProviderStore, refused: string | null = null): Promise<string> {
    const credentials = this.#read(store)
    if (credentials.kind === 'token') return credentials.accessToken
    if (credentials.kind === 'installed') return this.#installed(store, credentials, refused)
    const key = cacheKey(credentials)
    const cached = this.#cache.get(key)
    if (cached) {
      const { value, until } = await cached.token
      if (value !== refused && this.#clock.ms() < until) return value
    }
    const known = this.#cache.get(key)
    // A concurrent call is already requesting a new token.
    if (known && known !== cached) return (await known.token).value
    const token = this.#exchange(credentials)
    this.#cache.set(key, { token })
    token.catch(() => this.#cache.delete(key))
    return (await token).value
  }

  /** Whether a rejected token can be renewed. */
  canRenew(store: ProviderStore): boolean {
    const credentials = this.#read(store)
    return (
      credentials.kind === 'client' || (credentials.kind === 'installed' && credentials.refreshToken !== null)
    )
  }

  /** Exchanges an authorization code for credentials to store. Throws `Refused` for an expired code. */
  async install(shop: string, app: ShopifyApp, code: string): Promise<Installed & { shop: string }> {
    const body = { client_id: app.clientId, client_secret: app.clientSecret, code, expiring: '1' }
    const askedAt = this.#clock.ms()
    // A code works once. A retry is refused, and the owner has to follow the link again.
    const { text } = await this.#ask({ ...tokenCall(shop), body })
    return { shop, ...parseInstalled(text, app.clientId, askedAt) }
  }

  async #installed(
    store: ProviderStore,
    credentials: InstalledCredentials,
    refused: string | null,
  ): Promise<string> {
    if (this.#isValid(credentials, refused)) return credentials.accessToken
    const { renew } = store
    if (!renew || credentials.refreshToken === null) {
      throw new BadCredentials('The access token of the shop has run out: connect the store again')
    }
    const renewedCredentials = await renew(async (now) => {
      const current = this.#read({ ...store, credentials: now })
      // Another process has renewed the token, or the store was reconnected.
      if (current.kind !== 'installed' || this.#isValid(current, refused)) return now
      return this.#refresh(current)
    })
    store.credentials = renewedCredentials
    const renewed = this.#read(store)
    return renewed.kind === 'installed' ? renewed.accessToken : this.get(store)
  }

  #isValid({ accessToken, expiresAt }: InstalledCredentials, refused: string | null): boolean {
    return (
      accessToken !== refused &&
      (expiresAt === null || this.#clock.ms() < Date.parse(expiresAt) - expiryMarginMs)
    )
  }

  /** Replaces the access token and the refresh token. The old refresh token stays valid until the new one is used. */
  async #refresh({ shop, clientId, clientSecret, refreshToken }: InstalledCredentials): Promise<unknown> {
    const askedAt = this.#clock.ms()
    const { text } = await this.#ask({
      ...tokenCall(shop),
      body: {
        client_id: clientId,
        client_secret: clientSecret,
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
      },
    }).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      throw new AccessLost(
        'access-ended',
        'Shopify renews the access to the shop no more: the app was removed there, or was away too long',
        'Connect the store again: the merchant follows the link of `npm run store -- connect`',
        { cause: error },
      )
    })
    return { shop, ...parseInstalled(text, clientId, askedAt) }
  }

  async #exchange(credentials: ClientCredentials) {
    const askedAt = this.#clock.ms()
    const { text } = await this.#ask({
      ...tokenCall(credentials.shop),
      body: {
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
        grant_type: 'client_credentials',
      },
    }).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      throw new BadCredentials(
        'Shopify gives the app no access to the shop: see that it is installed there, and connect the store again',
        { cause: error },
      )
    })
    const { access_token: value, expires_in: seconds = 0 } = parseJson(text, true) as TokenAnswer
    if (!value) throw new BadCredentials('Shopify gave the app no access token: connect the store again')
    return { value, until: askedAt + seconds * 1000 - expiryMarginMs }
  }
}

/** A call that requests a token. It counts as a read, because requesting a second token is harmless. */
const tokenCall = (shop: string) => ({
  shop,
  method: 'POST',
  path: '/admin/oauth/access_token',
  isRead: true,
})

function parseInstalled(text: string, clientId: string, askedAt: number): Installed {
  const answer = parseJson(text, true) as TokenAnswer
  const { access_token: accessToken, scope = '' } = answer
  if (!accessToken) throw new BadCredentials('Shopify gave the app no access token: connect the store again')
  const after = (seconds: number | undefined) =>
    seconds === undefined ? null : new Date(askedAt + seconds * 1000).toISOString()
  return {
    clientId,
    accessToken,
    expiresAt: after(answer.expires_in),
    refreshToken: answer.refresh_token ?? null,
    refreshUntil: after(answer.refresh_token_expires_in),
    scopes: scope.split(',').filter(Boolean),
  }
}

const cacheKey = ({ shop, clientId, clientSecret }: ClientCredentials): string =>
  `${shop} ${clientId} ${clientSecret}`
