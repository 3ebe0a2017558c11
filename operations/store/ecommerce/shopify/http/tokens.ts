/**
 * Access tokens: given once with the connection; or asked for with the app's own credentials and kept for their time; or
 * of an installation, which run out after an hour and are renewed for all processes at once.
 */

import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { AccessLost, Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { type Answer, jsonOf } from './answers.ts'
import type { Call } from './call.ts'
import { BadCredentials, type Installed, type ShopifyApp, type ShopifyCredentials } from './options.ts'

interface Kept {
  token: Promise<{ value: string; until: number }>
}

type Own = ShopifyCredentials & { kind: 'client' }
type Given = ShopifyCredentials & { kind: 'installed' }

/** A token is not used in its last minutes. */
const restMs = 5 * minuteMs

/** What Shopify answers for a code or a refresh token. */
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
  readonly #kept = new Map<string, Kept>()

  constructor(
    ask: (call: Call) => Promise<Answer>,
    read: (store: ProviderStore) => ShopifyCredentials,
    clock: Clock,
  ) {
    this.#ask = ask
    this.#read = read
    this.#clock = clock
  }

  /** `refused`: a token that Shopify did not take, so another one. Throws `AccessLost` where there is none. */
  async of(store: ProviderStore, refused: string | null = null): Promise<string> {
    const credentials = this.#read(store)
    if (credentials.kind === 'token') return credentials.accessToken
    if (credentials.kind === 'installed') return this.#installed(store, credentials, refused)
    const key = keyOf(credentials)
    const kept = this.#kept.get(key)
    if (kept) {
      const { value, until } = await kept.token
      if (value !== refused && this.#clock.ms() < until) return value
    }
    const known = this.#kept.get(key)
    // Somebody else found the same meanwhile, and asks already.
    if (known && known !== kept) return (await known.token).value
    const token = this.#exchange(credentials)
    this.#kept.set(key, { token })
    token.catch(() => this.#kept.delete(key))
    return (await token).value
  }

  /** Whether another one than that which was refused may be had. */
  canRenew(store: ProviderStore): boolean {
    const credentials = this.#read(store)
    return (
      credentials.kind === 'client' || (credentials.kind === 'installed' && credentials.refreshToken !== null)
    )
  }

  /** What a code of the authorization gives: credentials to keep. Throws `Refused` for one that is no longer good. */
  async install(shop: string, app: ShopifyApp, code: string): Promise<Installed & { shop: string }> {
    const body = { client_id: app.clientId, client_secret: app.clientSecret, code, expiring: '1' }
    const askedAt = this.#clock.ms()
    // A code is good once: who asks twice is refused, and nothing is lost but the visit.
    const { text } = await this.#ask({ ...tokenCall(shop), body })
    return { shop, ...installedOf(text, app.clientId, askedAt) }
  }

  async #installed(store: ProviderStore, credentials: Given, refused: string | null): Promise<string> {
    if (this.#isGood(credentials, refused)) return credentials.accessToken
    const { renew } = store
    if (!renew || credentials.refreshToken === null) {
      throw new BadCredentials('The access token of the shop has run out: connect the store again')
    }
    const kept = await renew(async (now) => {
      const current = this.#read({ ...store, credentials: now })
      // Another process was faster, or the store was connected anew.
      if (current.kind !== 'installed' || this.#isGood(current, refused)) return now
      return this.#refresh(current)
    })
    store.credentials = kept
    const renewed = this.#read(store)
    return renewed.kind === 'installed' ? renewed.accessToken : this.of(store)
  }

  #isGood({ accessToken, expiresAt }: Given, refused: string | null): boolean {
    return (
      accessToken !== refused && (expiresAt === null || this.#clock.ms() < Date.parse(expiresAt) - restMs)
    )
  }

  /** The refresh token is replaced with the token; until the new one is used the old one stays good. */
  async #refresh({ shop, clientId, clientSecret, refreshToken }: Given): Promise<unknown> {
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
    return { shop, ...installedOf(text, clientId, askedAt) }
  }

  async #exchange(credentials: Own) {
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
    const { access_token: value, expires_in: seconds = 0 } = jsonOf(text, true) as TokenAnswer
    if (!value) throw new BadCredentials('Shopify gave the app no access token: connect the store again')
    return { value, until: askedAt + seconds * 1000 - restMs }
  }
}

/** A second token does no harm. */
const tokenCall = (shop: string) => ({
  shop,
  method: 'POST',
  path: '/admin/oauth/access_token',
  isRead: true,
})

function installedOf(text: string, clientId: string, askedAt: number): Installed {
  const answer = jsonOf(text, true) as TokenAnswer
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

const keyOf = ({ shop, clientId, clientSecret }: Own): string => `${shop} ${clientId} ${clientSecret}`
