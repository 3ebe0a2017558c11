/** Access tokens: given once with the connection, or asked for with the app's own credentials and kept for their time. */
import type { Clock } from '#runtime/clock'
import { Refused } from '../../../errors.ts'
import { BadCredentials, type ShopifyCredentials } from '../options.ts'
import { type Answer, jsonOf } from './answers.ts'
import type { Call } from './call.ts'

interface Kept {
  token: Promise<{ value: string; until: number }>
}

/** A token is not used in its last minutes. */
const restMs = 5 * 60_000

export class Tokens {
  readonly #ask: (call: Call) => Promise<Answer>
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()

  constructor(ask: (call: Call) => Promise<Answer>, clock: Clock) {
    this.#ask = ask
    this.#clock = clock
  }

  /** Throws `BadCredentials` where Shopify gives none. */
  async of(credentials: ShopifyCredentials): Promise<string> {
    if ('accessToken' in credentials) return credentials.accessToken
    const key = keyOf(credentials)
    const kept = this.#kept.get(key)
    if (kept) {
      const { value, until } = await kept.token
      if (this.#clock.ms() < until) return value
    }
    const token = this.#exchange(credentials)
    this.#kept.set(key, { token })
    token.catch(() => this.#kept.delete(key))
    return (await token).value
  }

  /** Whether there was one that Shopify had given: it will be asked for another. */
  forget(credentials: ShopifyCredentials): boolean {
    return 'clientId' in credentials && this.#kept.delete(keyOf(credentials))
  }

  async #exchange(credentials: ShopifyCredentials & { clientId: string }) {
    const askedAt = this.#clock.ms()
    const { text } = await this.#ask({
      shop: credentials.shop,
      method: 'POST',
      path: '/admin/oauth/access_token',
      body: {
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
        grant_type: 'client_credentials',
      },
      // A second token does no harm.
      isRead: true,
    }).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      throw new BadCredentials(
        'Shopify gives the app no access to the shop: see that it is installed there, and connect the store again',
        { cause: error },
      )
    })
    const { access_token: value, expires_in: seconds = 0 } = jsonOf(text, true) as {
      access_token?: string
      expires_in?: number
    }
    if (!value) throw new BadCredentials('Shopify gave the app no access token: connect the store again')
    return { value, until: askedAt + seconds * 1000 - restMs }
  }
}

const keyOf = ({ shop, clientSecret, ...rest }: ShopifyCredentials): string =>
  `${shop} ${'clientId' in rest ? rest.clientId : ''} ${clientSecret}`
