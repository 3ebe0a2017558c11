/** Access tokens as Shopify issues them, and their permissions. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '#runtime/clock'
import { hourMs } from '#runtime/durations'

export interface App {
  clientId: string
  clientSecret: string
}

export const app: App = { clientId: 'f1e2d3c4b5a6978800112233', clientSecret: 'shpss_a_secret_of_the_app' }
export const legacyToken = 'shpat_a_token_of_a_custom_app'

const allScopes = [
  'read_products',
  'read_customers',
  'read_orders',
  'read_all_orders',
  'write_discounts',
  'write_script_tags',
]
interface Installation {
  scopes: string[]
  accessToken: string
  expiresAt: number
  refreshToken: string
  refreshUntil: number
  /** Valid until its replacement is used. */
  before: string | null
}

export interface TokenRequest {
  client_id?: string
  client_secret?: string
  grant_type?: string
  code?: string
  expiring?: string
  refresh_token?: string
}

interface TokenAnswer {
  status: number
  body: unknown
}

const refused = (error: string, description: string): TokenAnswer => ({
  status: 400,
  body: { error, error_description: description },
})

export class TokenDesk {
  readonly #clock: Clock
  readonly #codes = new Map<string, string[]>()
  /** The tokens requested with the app's own credentials: only the last one is valid. */
  readonly tokens: string[] = []
  installation: Installation | null = null
  /** How often a refresh token was accepted. */
  refreshes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The owner grants these scopes; answers the single-use code that they return with. */
  agree(
    scopes: readonly string[] = ['read_products', 'read_customers', 'read_orders', 'write_discounts'],
  ): string {
    const code = randomUUID().replaceAll('-', '')
    this.#codes.set(code, [...scopes])
    return code
  }

  uninstall(): void {
    this.installation = null
  }

  /** A token's scopes, or null if it is invalid. */
  scopesOf(token: string | undefined): readonly string[] | null {
    if (token === legacyToken || (token !== undefined && this.tokens.at(-1) === token)) return allScopes
    const { installation } = this
    if (!installation || token !== installation.accessToken) return null
    if (this.#clock.ms() >= installation.expiresAt) return null
    installation.before = null
    return installation.scopes
  }

  give(asked: TokenRequest): TokenAnswer {
    if (asked.client_id !== app.clientId || asked.client_secret !== app.clientSecret) {
      return refused('application_cannot_be_found', 'Unknown client')
    }
    if (asked.code !== undefined) return this.#install(asked)
    if (asked.grant_type === 'refresh_token') return this.#refresh(asked.refresh_token ?? '')
    if (asked.grant_type !== 'client_credentials') return refused('unsupported_grant_type', 'Unsupported')
    const token = `shpat_${randomUUID()}`
    this.tokens.push(token)
    return { status: 200, body: { access_token: token, scope: allScopes.join(','), expires_in: 86_399 } }
  }

  #install({ code, expiring }: TokenRequest): TokenAnswer {
    const scopes = this.#codes.get(code!)
    this.#codes.delete(code!)
    if (!scopes) {
      return refused('invalid_request', 'The authorization code was not found or was already used')
    }
    if (expiring !== '1') throw new Error('Public apps have to ask for tokens that run out')
    return this.#issue(scopes, null)
  }

  #refresh(token: string): TokenAnswer {
    const { installation } = this
    const isKnown = installation && [installation.refreshToken, installation.before].includes(token)
    if (!isKnown || this.#clock.ms() >= installation.refreshUntil) {
      return refused('invalid_request', 'This request requires an active refresh_token')
    }
    this.refreshes += 1
    return this.#issue(installation.scopes, token)
  }

  #issue(scopes: string[], before: string | null): TokenAnswer {
    const now = this.#clock.ms()
    const issued = {
      scopes,
      before,
      accessToken: `shpat_${randomUUID()}`,
      expiresAt: now + hourMs,
      refreshToken: `shprt_${randomUUID()}`,
      refreshUntil: now + 90 * 24 * hourMs,
    }
    this.installation = issued
    return {
      status: 200,
      body: {
        access_token: issued.accessToken,
        scope: scopes.join(','),
        expires_in: 3600,
        refresh_token: issued.refreshToken,
        refresh_token_expires_in: 90 * 24 * 3600,
      },
    }
  }
}
