/** Options of the Tiendanube adapter, and the credentials of a store. */
import type { Kysely } from 'kysely'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { AccessLost } from '#runtime/ports/errors'
import { z } from '#runtime/schema'

/** The API version in use: the newest stable one of the documentation, which names no end of it. */
export const apiVersion = '2025-03'

export interface TiendanubeOptions {
  /** `tiendanube.com` or `nuvemshop.com.br`: both serve the same API. */
  domain: string
  /** The server's app, which any shop may install; null: each shop brings its own. */
  app?: TiendanubeApp | null
  /** The operator's email or https address. Tiendanube wants it in every request. */
  contact: string
  /** The script of the partner portal that loads our widgets; null: there is none. */
  scriptId?: number | null
  clock: Clock
  /** Keeps the discounts of the stores. */
  db: Kysely<Tables>
  /** The address of a store to which Tiendanube sends carts. */
  cartUrl: (storeId: string) => string
  /** The base URL of a host. Default: HTTPS to `api.` or `www.` of the domain. */
  endpoint?: (host: 'api' | 'www') => string
  timeoutMs?: number
  /** Delay before the first retry; doubles with each retry. */
  retryDelayMs?: number
  /** How long a call waits at most for the rate limit; a longer pause throws `Throttled`. */
  maxPauseMs?: number
}

export interface TiendanubeApp {
  clientId: string
  clientSecret: string
}

/** The result of an installation. The access token ends when the app is removed or a new token is requested. */
export interface Installed {
  storeId: string
  clientId: string
  accessToken: string
  scopes: string[]
}

/**
 * The decrypted credentials of a connection. `scopes` is null for an app that the shop brings itself. `clientSecret` signs
 * the webhooks.
 */
export interface TiendanubeCredentials {
  storeId: string
  accessToken: string
  clientSecret: string
  scopes: string[] | null
}

const secret = z.string().min(8).max(400)
const storeId = z.string().regex(/^[1-9]\d{0,17}$/)
const credentials = z.union([
  z.object({ storeId, accessToken: secret, clientSecret: secret }),
  z.object({ storeId, accessToken: secret, clientId: z.string(), scopes: z.array(z.string()) }),
])

/** Thrown if the store's credentials are missing or rejected. The message says what to do. */
export class BadCredentials extends AccessLost {
  constructor(message: string, options?: { cause?: unknown }) {
    super(
      'bad-credentials',
      message,
      'See that the app is installed in the shop, and connect the store again',
      options,
    )
  }
}

/**
 * Parses `ECOMMERCE_URL`: `tiendanube://tiendanube.com?contact=ops@example.com`, with the server's app
 * `tiendanube://APP_ID:CLIENT_SECRET@…&script=SCRIPT_ID`. Throws if it is invalid.
 */
export function readTiendanubeUrl(
  text: string,
): Pick<TiendanubeOptions, 'domain' | 'app' | 'contact'> & { scriptId: number | null } {
  const url = URL.parse(text)
  const hasHalf = Boolean(url?.username) !== Boolean(url?.password)
  if (!url?.host || hasHalf || (url.pathname !== '' && url.pathname !== '/')) {
    throw new Error(
      'ECOMMERCE_URL: must be tiendanube://APP_ID:CLIENT_SECRET@tiendanube.com?contact=ops@example.com&script=SCRIPT_ID',
    )
  }
  const contact = url.searchParams.get('contact') ?? ''
  if (!/^(?:https:\/\/[!-~]{3,200}|[!-?A-~]{1,100}@[!-?A-~]{3,100})$/.test(contact)) {
    throw new Error(
      'ECOMMERCE_URL: add contact= with an email or an https address: Tiendanube refuses requests without it',
    )
  }
  const script = url.searchParams.get('script')
  if (script !== null && !/^[1-9]\d{0,14}$/.test(script)) {
    throw new Error('ECOMMERCE_URL: script= must be the number of the script in the partner portal')
  }
  const app = url.username
    ? { clientId: decodeURIComponent(url.username), clientSecret: decodeURIComponent(url.password) }
    : null
  return { domain: url.host, app, contact, scriptId: script === null ? null : Number(script) }
}

/** Parses credentials. Throws `BadCredentials` if they are malformed, or are of another app than the server's. */
export function readCredentials(given: unknown, app: TiendanubeApp | null): TiendanubeCredentials {
  const read = credentials.safeParse(given)
  if (!read.success) {
    throw new BadCredentials(
      'The connection to Tiendanube needs storeId, accessToken and clientSecret: connect the store again',
    )
  }
  const { data } = read
  if ('clientSecret' in data) return { ...data, scopes: null }
  if (app?.clientId !== data.clientId) {
    throw new BadCredentials('The shop installed another app than that of this server: connect it again')
  }
  const { storeId, accessToken, scopes } = data
  return { storeId, accessToken, scopes, clientSecret: app.clientSecret }
}
