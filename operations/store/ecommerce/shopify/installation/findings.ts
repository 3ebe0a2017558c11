/** What the connection of a shop needs, and what of it is missing: asked, and nothing changed. */
import type { Clock } from '#runtime/clock'
import { AccessLost, Refused } from '#runtime/ports/errors'
import type { Finding, ProviderStore } from '#runtime/ports/provider'
import type { ShopifyClient } from '../http/client.ts'
import { apiVersion, type ShopifyApp } from '../http/options.ts'
import { missingScopes, neededScopes, wishedScopes } from './install.ts'
import { activationLink, scriptTagsEndAt } from './scripts.ts'
import { registeredTopics, theirTopics } from './webhooks.ts'

interface Installation {
  currentAppInstallation: {
    accessScopes: { handle: string }[]
    metafield: { value: string } | null
  }
}

const document = `query Connection {
  currentAppInstallation {
    accessScopes { handle }
    metafield(namespace: "storefront", key: "loader") { value }
  }
}`

const fine = (code: string, message: string): Finding => ({ code, isFine: true, message })
const missing = (code: string, message: string, remedy: string): Finding => ({
  code,
  isFine: false,
  message,
  remedy,
})

/** `url`: where webhooks are to come, null where nobody says. */
export async function findingsOf(
  client: ShopifyClient,
  store: ProviderStore,
  { url, app, clock }: { url: string | null; app: ShopifyApp | null; clock: Clock },
): Promise<Finding[]> {
  let installation: Installation['currentAppInstallation']
  try {
    installation = (await client.graph<Installation>(store, document)).currentAppInstallation
  } catch (error) {
    if (error instanceof AccessLost) return [missing(error.code, error.message, error.remedy)]
    throw error
  }
  const granted = installation.accessScopes.map(({ handle }) => handle)
  return [
    fine('access', `Shopify answers, in version ${apiVersion}`),
    ...scopesOf(granted),
    ...(await dataOf(client, store)),
    ...(url === null ? [] : await webhooksOf(client, store, url)),
    await loaderOf(client, store, installation.metafield?.value ?? null, clock),
    app === null
      ? fine('app', 'Each shop brings an app of its own: this server has none that others could install')
      : fine('app', 'This server has an app that any shop may install'),
  ]
}

function scopesOf(granted: readonly string[]): Finding[] {
  const needed = missingScopes(granted, neededScopes).map((scope) =>
    missing(
      `scope-${scope.replaceAll('_', '-')}`,
      `The app has no permission ${scope}`,
      `Give the app ${scope} and let the shop's owner agree to it: connect the store again`,
    ),
  )
  const wished = missingScopes(granted, wishedScopes).map((scope) =>
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

/** Names, emails and phones are kept from apps that Shopify did not allow them. */
async function dataOf(client: ShopifyClient, store: ProviderStore): Promise<Finding[]> {
  try {
    await client.graph(store, 'query ProtectedData { customers(first: 1) { nodes { id firstName } } }')
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

async function webhooksOf(client: ShopifyClient, store: ProviderStore, url: string): Promise<Finding[]> {
  if (!url.startsWith('https://')) {
    return [
      missing('address', 'Shopify delivers to https addresses alone', 'Set PUBLIC_URL to an https address'),
    ]
  }
  const known = await registeredTopics(client, store, url)
  const lost = theirTopics.filter((topic) => !known.has(topic))
  return lost.length === 0
    ? [fine('webhooks', 'Shopify tells us of every change')]
    : [
        missing(
          'webhooks',
          `Shopify does not tell us of ${lost.join(', ')}`,
          'Nothing is to be done where the worker runs: they are registered again within 15 minutes',
        ),
      ]
}

async function loaderOf(
  client: ShopifyClient,
  store: ProviderStore,
  told: string | null,
  clock: Clock,
): Promise<Finding> {
  const link = await activationLink(client, store)
  if (told !== null) {
    return fine('loader', `The theme app extension knows the loader; it is switched on here: ${link}`)
  }
  const until = clock.ms() < scriptTagsEndAt ? ' (script tags of before load until March 2027)' : ''
  return missing(
    'loader',
    `The theme app extension was not told where the loader is${until}`,
    `Switch a widget on, then the block in the theme: ${link}`,
  )
}
