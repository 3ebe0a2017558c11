/**
 * How any shop installs the server's app: its owner follows a link to Shopify, agrees there to what the app may do, and
 * comes back with a code (the authorization code grant, for an offline token that runs out and is renewed).
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import type { InstallFlow } from '../../port.ts'
import type { ShopifyClient } from '../http/client.ts'
import { BadCredentials, readShop, type ShopifyApp } from '../http/options.ts'
import { parseDelivery, shopIdOf } from './webhooks.ts'

/** Without these something does not work. */
export const neededScopes = ['read_products', 'read_customers', 'read_orders', 'write_discounts'] as const
/** Orders older than 60 days, which Shopify has to allow the app. */
export const wishedScopes = ['read_all_orders'] as const

/** An answer that lay about for longer is not taken. */
const answerLivesMs = 10 * minuteMs

/** Those that are not granted; who may write may read. */
export const missingScopes = (
  granted: readonly string[],
  needed: readonly string[] = neededScopes,
): string[] =>
  needed.filter((each) => !granted.includes(each) && !granted.includes(each.replace(/^read_/, 'write_')))

export function installFlow(
  client: ShopifyClient,
  { app, domain, clock }: { app: ShopifyApp; domain: string; clock: Clock },
): InstallFlow {
  return {
    link(given, { state, returnUrl }) {
      const shop = shopOf(given, domain)
      const query = new URLSearchParams({
        client_id: app.clientId,
        scope: [...neededScopes, ...wishedScopes].join(','),
        redirect_uri: returnUrl,
        state,
      })
      return { shop, url: `https://${shop}/admin/oauth/authorize?${query}` }
    },
    read(query) {
      const age = Math.abs(clock.ms() - Number(query.get('timestamp')) * 1000)
      if (!isSigned(query, app.clientSecret) || !(age <= answerLivesMs)) {
        throw new Refused('bad-signature', 'This answer is not one of Shopify, or it is an old one')
      }
      const code = query.get('code')
      if (!code) throw new Refused('not-allowed', 'Shopify gave no access: nobody agreed to it')
      return { shop: shopOf(query.get('shop') ?? '', domain), code }
    },
    hook(headers, rawBody) {
      const events = parseDelivery(headers, rawBody, { secret: app.clientSecret, now: clock.now() })
      return { shopId: shopIdOf(rawBody), events }
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

function shopOf(given: string, domain: string): string {
  try {
    return readShop(given, domain)
  } catch (error) {
    if (error instanceof BadCredentials) throw new Refused('bad-shop', error.message)
    throw error
  }
}

/** All parameters but the signature, in order, as they are written in an address. */
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
