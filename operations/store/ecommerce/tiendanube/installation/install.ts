/**
 * Lets any shop install the server's app, with OAuth's authorization code grant. The shop's owner follows a link to
 * Tiendanube, consents there and is redirected back with a code, which is exchanged for a token that does not expire.
 *
 * Tiendanube names no shop in the redirect. So the shop is part of the state, which our signature covers, and the shop of
 * the token is compared with it.
 */
import { Refused } from '#runtime/ports/errors'
import type { InstallFlow } from '../../port.ts'
import type { TiendanubeClient } from '../http/client.ts'
import type { Installed, TiendanubeApp, TiendanubeOptions } from '../http/options.ts'
import { readHost, readShop } from '../shop.ts'
import { parseDelivery, parseShopId } from './webhooks.ts'

/** Permissions that the app must have; without any of them some function fails. */
const requiredScopes = [
  'read_products',
  'read_customers',
  'read_orders',
  'write_coupons',
  'write_scripts',
] as const

/** Lists the needed permissions that are not granted. A write permission includes the read permission. */
export const listMissingScopes = (granted: readonly string[]): string[] =>
  requiredScopes.filter(
    (each) => !granted.includes(each) && !granted.includes(each.replace(/^read_/, 'write_')),
  )

/** Parts of the state that the store section makes; the shop follows. */
const stateParts = 3

export function installFlow(
  client: TiendanubeClient,
  app: TiendanubeApp,
  { domain, clock }: Pick<TiendanubeOptions, 'domain' | 'clock'>,
): InstallFlow {
  return {
    link(given, { state }) {
      const shop = requireShop(given)
      const query = new URLSearchParams({ state: `${state}.${shop}` })
      return { shop, url: `https://www.${domain}/apps/${app.clientId}/authorize?${query}` }
    },
    read(query) {
      const code = query.get('code')
      if (!code) throw new Refused('not-allowed', 'Tiendanube gave no access: nobody agreed to it')
      const shop = (query.get('state') ?? '').split('.').slice(stateParts).join('.')
      return { shop: requireShop(shop), code }
    },
    hook(headers, rawBody) {
      const events = parseDelivery(headers, rawBody, { secret: app.clientSecret, now: clock.now() })
      return { shopId: parseShopId(rawBody), events }
    },
    async exchange(shop, code) {
      const credentials = await requestToken(client, app, code)
      const found = await readShop(client, { id: shop, credentials })
      if (shop !== found.id && !found.domains.includes(shop)) {
        throw new Refused(
          'another-shop',
          `The link is for ${shop}, and the shop that installed the app is ${found.domain}: sign in to the right shop, and follow the link again`,
        )
      }
      const missing = listMissingScopes(credentials.scopes)
      if (missing.length > 0) {
        throw new Refused(
          'missing-permission',
          `The shop gave the app less than it needs: ${missing.join(', ')} is missing. Add it to the app in the partner portal, then install the app again`,
        )
      }
      return credentials
    },
  }
}

async function requestToken(client: TiendanubeClient, app: TiendanubeApp, code: string): Promise<Installed> {
  const answer = await client.exchange({
    client_id: app.clientId,
    client_secret: app.clientSecret,
    grant_type: 'authorization_code',
    code,
  })
  const { access_token: accessToken, user_id: userId, store_id: storeId, scope } = answer
  if (typeof accessToken !== 'string' || accessToken === '') {
    throw new Refused('bad-code', 'Tiendanube does not take the code any more: follow the link again')
  }
  return {
    storeId: String(userId ?? storeId),
    clientId: app.clientId,
    accessToken,
    scopes: String(scope ?? '')
      .split(/[\s,]+/)
      .filter(Boolean),
  }
}

/** The shop's number, or the host of one of its addresses. */
function requireShop(given: string): string {
  const shop = given.trim().toLowerCase()
  if (/^[1-9]\d{0,17}$/.test(shop)) return shop
  const host = readHost(shop)
  if (host?.includes('.') && /^[a-z0-9.-]{4,253}$/.test(host)) return host
  throw new Refused(
    'bad-shop',
    "shop: must be the shop's number or its domain, such as my-shop.lojavirtualnuvem.com.br",
  )
}
