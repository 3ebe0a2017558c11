/** Options of the Shopify adapter, and the credentials of a store. */
import type { Clock } from '#runtime/clock'
import { AccessLost } from '#runtime/ports/errors'
import { z } from '#runtime/schema'

/** The API version in use. Shopify supports each version for a year. */
export const apiVersion = '2026-10'

export interface ShopifyOptions {
  /** Suffix of the shops' domains: `myshopify.com`. */
  domain: string
  /** The server's app, which any shop may install; null: each shop brings its own. */
  app?: ShopifyApp | null
  clock: Clock
  /** The base URL of a shop such as `aurora.myshopify.com`. Default: HTTPS to that host. */
  endpoint?: (shop: string) => string
  timeoutMs?: number
  /** Delay before the first retry; doubles with each retry. */
  retryDelayMs?: number
  /** How long a call waits at most for the rate limit; a longer pause throws `Throttled`. */
  maxPauseMs?: number
}

export interface ShopifyApp {
  clientId: string
  clientSecret: string
}

/**
 * The decrypted credentials of a connection. `token`: a custom app with an `accessToken`. `client`: an app of the developer
 * dashboard, which requests tokens valid for a day with its `clientId`. `installed`: a shop that installed the server's app;
 * the credentials are the result of the installation and the server's secret. `clientSecret` always signs the webhooks.
 */
export type ShopifyCredentials = { shop: string; clientSecret: string } & (
  | { kind: 'token'; accessToken: string }
  | { kind: 'client'; clientId: string }
  | ({ kind: 'installed' } & Installed)
)

/** The result of an installation. If the token does not expire, `expiresAt` and `refreshUntil` are null. */
export interface Installed {
  clientId: string
  accessToken: string
  /** ISO 8601. */
  expiresAt: string | null
  refreshToken: string | null
  /** When the refresh token expires (ISO 8601). After that the merchant has to connect again. */
  refreshUntil: string | null
  scopes: string[]
}

const secret = z.string().min(8).max(400)
const credentials = z.union([
  z.object({ shop: z.string(), clientSecret: secret, accessToken: secret }),
  z.object({ shop: z.string(), clientSecret: secret, clientId: secret }),
  z.object({
    shop: z.string(),
    clientId: secret,
    accessToken: secret,
    expiresAt: z.string().nullable(),
    refreshToken: secret.nullable(),
    refreshUntil: z.string().nullable(),
    scopes: z.array(z.string()),
  }),
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
 * Parses `ECOMMERCE_URL`: `shopify://myshopify.com`, or with the server's app `shopify://CLIENT_ID:CLIENT_SECRET@…`. Throws
 * if it is invalid.
 */
export function readShopifyUrl(text: string): Pick<ShopifyOptions, 'domain' | 'app'> {
  const url = URL.parse(text)
  const hasHalf = Boolean(url?.username) !== Boolean(url?.password)
  if (!url?.host || hasHalf || (url.pathname !== '' && url.pathname !== '/')) {
    throw new Error(
      'ECOMMERCE_URL: must be shopify://myshopify.com, or shopify://CLIENT_ID:CLIENT_SECRET@myshopify.com',
    )
  }
  const app = url.username
    ? { clientId: decodeURIComponent(url.username), clientSecret: decodeURIComponent(url.password) }
    : null
  return { domain: url.host, app }
}

/** Parses credentials. Throws `BadCredentials` if they are malformed or the shop is not at Shopify. */
export function readCredentials(
  given: unknown,
  domain: string,
  app: ShopifyApp | null = null,
): ShopifyCredentials {
  const read = credentials.safeParse(given)
  if (!read.success) {
    throw new BadCredentials(
      'The connection to Shopify needs shop, clientSecret, and accessToken or clientId: connect the store again',
    )
  }
  const shop = readShop(read.data.shop, domain)
  const { data } = read
  if ('scopes' in data) {
    if (app?.clientId !== data.clientId) {
      throw new BadCredentials('The shop installed another app than that of this server: connect it again')
    }
    return { kind: 'installed', ...data, clientSecret: app.clientSecret, shop }
  }
  return 'accessToken' in data ? { kind: 'token', ...data, shop } : { kind: 'client', ...data, shop }
}

/**
 * Normalizes a shop's host, such as `my-shop.myshopify.com`. Throws `BadCredentials` for any other host, so that requests
 * only go to Shopify.
 */
export function readShop(given: string, domain: string): string {
  const shop = given.trim().toLowerCase()
  const name = shop.endsWith(`.${domain}`) ? shop.slice(0, -domain.length - 1) : ''
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new BadCredentials(`shop: must be the shop's own domain, such as my-shop.${domain}`)
  }
  return shop
}
