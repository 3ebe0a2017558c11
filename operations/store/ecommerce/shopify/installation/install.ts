/**
 * Lets any shop install the server's app, with OAuth's authorization code grant. The shop's owner follows a link to Shopify,
 * consents there and is redirected back with a code, which is exchanged for an expiring offline token.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import type { InstallFlow } from '../../port.ts'
import type { ShopifyClient } from '../http/client.ts'
import { BadCredentials, readShop, type ShopifyApp } from '../http/options.ts'
import { parseDelivery, parseShopId } from './webhooks.ts'

/** Permissions that the app must have; without any of them some function fails. */
export const requiredScopes = ['read_products', 'read_customers', 'read_orders', 'write_discounts'] as const
/** Permission for orders older than 60 days; Shopify must approve the app for it. */
export const optionalScopes = ['read_all_orders'] as const

/** A redirect is rejected if its timestamp is older than 10 minutes. */
const answerTtlMs = 10 * minuteMs

/** Lists the needed permissions that are not granted. A write permission includes the read permission. */
export const missingScopes = (
  granted: readonly string[],
  needed: readonly string[] = requiredScopes,
): string[] =>
  needed.filter((each) => !granted.includes(each) && !granted.includes(each.replace(/^read_/, 'write_')))

export function installFlow(
  client: ShopifyClient,
  { app, domain, clock }: { app: ShopifyApp; domain: string; clock: Clock },
): InstallFlow {
  return {
    link(given, { state, returnUrl }) {
      const shop = requireShop(given, domain)
      const query = new URLSearchParams({
        client_id: app.clientId,
        scope: [...requiredScopes, ...optionalScopes].join(','),
        redirect_uri: returnUrl,
        state,
      })
      return { shop, url: `https://${shop}/admin/oauth/authorize?${query}` }
    },
    read(query) {
      const age = Math.abs(clock.ms() - Number(query.get('timestamp')) * 1000)
      if (!isSigned(query, app.clientSecret) || !(age <= answerTtlMs)) {
        throw new Refused('bad-signature', 'This answer is not one of Shopify, or it is an old one')
      }
      const code = query.get('code')
      if (!code) throw new Refused('not-allowed', 'Shopify gave no access: nobody agreed to it')
      return { shop: requireShop(query.get('shop') ?? '', domain), code }
    },
    hook(headers, rawBody) {
      const events = parseDelivery(headers, rawBody, { secret: app.clientSecret, now: clock.now() })
      return { shopId: parseShopId(rawBody), events }
    },
    async exchange(shop, code) {
      const credentials = await client.install(shop, app, code)
      const missing = missingScopes(credentials.scopes)
      if (missing.length > 0) {
        throw new Refused(
          'missing-permission',
          `The shop gave the app less than it needs: ${missing.join(', ')} is missing. Follow the link again and agree to all of it`,
        )
      }
      return credentials
    },
  }
}

function requireShop(given: string, domain: string): string {
  try {
    return readShop(given, domain)
  } catch (error) {
    if (error instanceof BadCredentials) throw new Refused('bad-shop', error.message)
    throw error
  }
}

/** Whether the redirect is signed by Shopify. The signature covers all other parameters, sorted and URL-encoded. */
function isSigned(query: URLSearchParams, secret: string): boolean {
  const signed = new URLSearchParams(
    [...query]
      .filter(([name]) => name !== 'hmac' && name !== 'signature')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
  const text = signed.toString().replaceAll('+', '%20')
  const expected = createHmac('sha256', secret).update(text).digest('hex')
  const given = query.getAll('hmac')
  const [only = ''] = given
  const [left, right] = [Buffer.from(only), Buffer.from(expected)]
  return given.length === 1 && left.length === right.length && timingSafeEqual(left, right)
}
