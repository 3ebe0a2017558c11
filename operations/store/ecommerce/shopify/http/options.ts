/** What the adapter of Shopify's Admin API is opened with, and the credentials of a store. */
import type { Clock } from '#runtime/clock'
import { AccessLost } from '#runtime/ports/errors'
import { z } from '#runtime/schema'

/** The one dated version that is spoken; Shopify keeps each for a year. */
export const apiVersion = '2026-10'

export interface ShopifyOptions {
  /** What the shops' own domains end in: `myshopify.com`. */
  domain: string
  /** The app of this server, which any shop may install; null: each shop brings one of its own. */
  app?: ShopifyApp | null
  clock: Clock
  /** Of a shop, such as `aurora.myshopify.com`. Default: HTTPS to that host. */
  endpoint?: (shop: string) => string
  timeoutMs?: number
  /** Before the first retry; doubles. */
  retryDelayMs?: number
  /** A longer pause that it asks for is not waited for. */
  pauseAtMostMs?: number
}

export interface ShopifyApp {
  clientId: string
  clientSecret: string
}

/**
 * Of a store's connection, kept sealed. `accessToken` is that of a custom app; an app of the developer dashboard has a
 * `clientId` instead, with which a token for a day is asked for; a shop that installed the server's app has what came of
 * it, and its secret is the server's. `clientSecret` signs the webhooks in all.
 */
export type ShopifyCredentials = { shop: string; clientSecret: string } & (
  | { kind: 'token'; accessToken: string }
  | { kind: 'client'; clientId: string }
  | ({ kind: 'installed' } & Installed)
)

/** What an installation gives. A token that does not run out has neither instant. */
export interface Installed {
  clientId: string
  accessToken: string
  /** Instant. */
  expiresAt: string | null
  refreshToken: string | null
  /** Instant: after it the merchant has to come again. */
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

/** The platform does not take the store's credentials, or there are none. The message says what to do. */
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

/** Reads `shopify://myshopify.com`, with the server's app `shopify://CLIENT_ID:CLIENT_SECRET@…`. Throws what is wrong. */
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

/** Throws `BadCredentials` where they are of another form, and where the shop is none of Shopify's. */
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

/** `my-shop.myshopify.com`. Throws `BadCredentials` where it is none of Shopify's: nobody else is ever asked. */
export function readShop(given: string, domain: string): string {
  const shop = given.trim().toLowerCase()
  const name = shop.endsWith(`.${domain}`) ? shop.slice(0, -domain.length - 1) : ''
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new BadCredentials(`shop: must be the shop's own domain, such as my-shop.${domain}`)
  }
  return shop
}
