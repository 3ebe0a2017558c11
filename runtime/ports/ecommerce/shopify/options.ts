/** What the adapter of Shopify's Admin API is opened with, and the credentials of a store. */
import type { Clock } from '../../../clock.ts'
import { z } from '../../../schema.ts'
import { AccessLost } from '../../errors.ts'

/** The one dated version that is spoken; Shopify keeps each for a year. */
export const apiVersion = '2026-10'

export interface ShopifyOptions {
  /** What the shops' own domains end in: `myshopify.com`. */
  domain: string
  clock: Clock
  /** Of a shop, such as `aurora.myshopify.com`. Default: HTTPS to that host. */
  endpoint?: (shop: string) => string
  timeoutMs?: number
  /** Before the first retry; doubles. */
  retryDelayMs?: number
  /** A longer pause that it asks for is not waited for. */
  pauseAtMostMs?: number
}

/**
 * Of a store's connection, kept sealed. `accessToken` is that of a custom app; an app of the developer dashboard has a
 * `clientId` instead, with which a token for a day is asked for. `clientSecret` signs the webhooks in both.
 */
export type ShopifyCredentials = { shop: string; clientSecret: string } & (
  | { accessToken: string }
  | { clientId: string }
)

const secret = z.string().min(8).max(400)
const credentials = z.union([
  z.object({ shop: z.string(), clientSecret: secret, accessToken: secret }),
  z.object({ shop: z.string(), clientSecret: secret, clientId: secret }),
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

/** Reads `shopify://myshopify.com`. Throws what is wrong with it. */
export function readShopifyUrl(text: string): Pick<ShopifyOptions, 'domain'> {
  const url = URL.parse(text)
  if (!url?.host || url.username || (url.pathname !== '' && url.pathname !== '/')) {
    throw new Error('ECOMMERCE_URL: must be shopify://myshopify.com')
  }
  return { domain: url.host }
}

/** Throws `BadCredentials` where they are of another form, and where the shop is none of Shopify's. */
export function readCredentials(given: unknown, domain: string): ShopifyCredentials {
  const read = credentials.safeParse(given)
  if (!read.success) {
    throw new BadCredentials(
      'The connection to Shopify needs shop, clientSecret, and accessToken or clientId: connect the store again',
    )
  }
  const shop = read.data.shop.trim().toLowerCase()
  const name = shop.endsWith(`.${domain}`) ? shop.slice(0, -domain.length - 1) : ''
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new BadCredentials(`shop: must be the shop's own domain, such as my-shop.${domain}`)
  }
  return { ...read.data, shop }
}
