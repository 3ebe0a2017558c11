/** Options of the Shopify adapter, and the credentials of a store. */
import type { Clock } from '#runtime/clock'
import { AccessLost } from '#runtime/ports/errors'
import { z } from '#runtime/schema'

/** The API version in use; Shopify supports each for a year. */
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
  /** Delay of the first retry; doubles each time. */
  retryDelayMs?: number
  /** The longest rate limit pause to wait for. */
  maxPauseMs?: number
}

export interface ShopifyApp {
  clientId: string
  clientSecret: string
}

/**
 * Sealed credentials of a connection. A custom app has an `accessToken`. An app of the developer dashboard has a `clientId`
 * instead, with which it requests tokens valid for a day. A shop that installed the server's app has the result of the
 * installation and uses the server's secret. In all cases `clientSecret` signs the webhooks.
 */
export type ShopifyCredentials = { shop: string; clientSecret: string } & (
  | { kind: 'token'; accessToken: string }
  | { kind: 'client'; clientId: string }
  | ({ kind: 'installed' } & Installed)
)

/** The result of an installation. A token that does not expire has neither instant. */
export interface Installed {
  clientId: string
  accessToken: string
  /** Instant. */
  expiresAt: string | null
  refreshToken: string | null
  /** Instant after which the merchant has to connect again. */
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

/** The store's credentials are missing or rejected. The message has the remedy. */
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

/** Parses `shopify://myshopify.com`, or with the server's app `shopify://CLIENT_ID:CLIENT_SECRET@…`. Throws if it is invalid. */
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

/** Throws `BadCredentials` if they are malformed, or if the shop is not at Shopify. */
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

/** `my-shop.myshopify.com`. Throws `BadCredentials` for any other host, so that requests only go to Shopify. */
export function readShop(given: string, domain: string): string {
  const shop = given.trim().toLowerCase()
  const name = shop.endsWith(`.${domain}`) ? shop.slice(0, -domain.length - 1) : ''
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new BadCredentials(`shop: must be the shop's own domain, such as my-shop.${domain}`)
  }
  return shop
}
