/** Diagnoses the connection of a shop: permissions, webhooks and storefront loader. Changes nothing. */
import type { Clock } from '#runtime/clock'
import { AccessLost, Refused } from '#runtime/ports/errors'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'
import { type ConnectionQuery, connectionDocument, protectedDataDocument } from '../documents/documents.ts'
import type { ShopifyClient } from '../http/client.ts'
import { apiVersion, type ShopifyApp } from '../http/options.ts'
import { missingScopes, optionalScopes, requiredScopes } from './install.ts'
import { activationLink, scriptTagsEndAt } from './scripts.ts'
import { registeredTopics, shopifyTopics } from './webhooks.ts'

const fine = (code: string, message: string): Precondition => ({ code, isFine: true, message })
const missing = (code: string, message: string, remedy: string): Precondition => ({
  code,
  isFine: false,
  message,
  remedy,
})

/** `url`: the webhook endpoint; null skips the check of the webhooks. */
export async function diagnose(
  client: ShopifyClient,
  store: ProviderStore,
  { url, app, clock }: { url: string | null; app: ShopifyApp | null; clock: Clock },
): Promise<Precondition[]> {
  let connection: ConnectionQuery
  try {
    connection = await client.graph(store, connectionDocument)
  } catch (error) {
    if (error instanceof AccessLost) return [missing(error.code, error.message, error.remedy)]
    throw error
  }
  const { currentAppInstallation: installation, publicApiVersions } = connection
  const granted = installation.accessScopes.map(({ handle }) => handle)
  return [
    fine('access', 'Shopify answers'),
    checkVersion(publicApiVersions),
    ...checkScopes(granted),
    ...(await checkCustomerData(client, store)),
    ...(url === null ? [] : await checkWebhooks(client, store, url)),
    await checkLoader(client, store, installation.metafield?.value ?? null, clock),
    app === null
      ? fine('app', 'Each shop brings an app of its own: this server has none that others could install')
      : fine('app', 'This server has an app that any shop may install'),
  ]
}

/** Shopify answers a version that has ended by the oldest supported one, in which a field may be missing. */
function checkVersion(versions: ConnectionQuery['publicApiVersions']): Precondition {
  const isSupported = versions.some(({ handle, supported }) => handle === apiVersion && supported)
  return isSupported
    ? fine('version', `Shopify supports version ${apiVersion}`)
    : missing(
        'version',
        `Shopify no longer supports version ${apiVersion}`,
        'Update this server to a release that uses a later version',
      )
}

function checkScopes(granted: readonly string[]): Precondition[] {
  const needed = missingScopes(granted, requiredScopes).map((scope) =>
    missing(
      `scope-${scope.replaceAll('_', '-')}`,
      `The app has no permission ${scope}`,
      `Give the app ${scope} and let the shop's owner agree to it: connect the store again`,
    ),
  )
  const wished = missingScopes(granted, optionalScopes).map((scope) =>
    missing(
      `scope-${scope.replaceAll('_', '-')}`,
      'Orders older than 60 days are not shown to the app',
      `Ask Shopify for ${scope} in the app's settings (API access), then connect the store again`,
    ),
  )
  return needed.length > 0
    ? [...needed, ...wished]
    : [fine('scopes', 'The app may do all it needs'), ...wished]
}

/** Checks whether the app sees customers: Shopify hides names, emails and phones from apps that it has not approved. */
async function checkCustomerData(client: ShopifyClient, store: ProviderStore): Promise<Precondition[]> {
  try {
    await client.graph(store, protectedDataDocument)
    return [fine('customer-data', 'The app may see who customers are')]
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'missing-permission')) throw error
    return [
      missing(
        'customer-data',
        'Shopify keeps names, emails and phones of customers from the app',
        "Ask for protected customer data in the app's settings (API access); a shop on the plan Basic gives them to no custom app",
      ),
    ]
  }
}

async function checkWebhooks(
  client: ShopifyClient,
  store: ProviderStore,
  url: string,
): Promise<Precondition[]> {
  if (!url.startsWith('https://')) {
    return [
      missing('address', 'Shopify delivers to https addresses alone', 'Set PUBLIC_URL to an https address'),
    ]
  }
  const known = await registeredTopics(client, store, url)
  const missingTopics = shopifyTopics.filter((topic) => !known.has(topic))
  return missingTopics.length === 0
    ? [fine('webhooks', 'Shopify reports every change')]
    : [
        missing(
          'webhooks',
          `Shopify does not report ${missingTopics.join(', ')}`,
          'Nothing to do while the worker runs: they are registered again within 15 minutes',
        ),
      ]
}

async function checkLoader(
  client: ShopifyClient,
  store: ProviderStore,
  loaderUrl: string | null,
  clock: Clock,
): Promise<Precondition> {
  const link = await activationLink(client, store)
  if (loaderUrl !== null) {
    return fine('loader', `The theme app extension knows the loader; it is switched on here: ${link}`)
  }
  const until = clock.ms() < scriptTagsEndAt ? ' (script tags of before load until March 2027)' : ''
  return missing(
    'loader',
    `The theme app extension does not have the address of the loader${until}`,
    `Switch a widget on, then the block in the theme: ${link}`,
  )
}
