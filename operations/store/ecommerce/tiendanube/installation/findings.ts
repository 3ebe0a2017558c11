/** Diagnoses the connection of a shop: access, permissions, webhooks and script. Changes nothing. */
import { AccessLost } from '#runtime/ports/errors'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'
import type { TiendanubeClient } from '../http/client.ts'
import { apiVersion, type TiendanubeOptions } from '../http/options.ts'
import { readShop } from '../shop.ts'
import { listMissingScopes } from './install.ts'
import { listAssociated } from './scripts.ts'
import { expectedEvents, listRegistered } from './webhooks.ts'

const fine = (code: string, message: string): Precondition => ({ code, isFine: true, message })
const missing = (code: string, message: string, remedy: string): Precondition => ({
  code,
  isFine: false,
  message,
  remedy,
})

/** `url`: the webhook endpoint; null skips the check of the webhooks. */
export async function diagnose(
  client: TiendanubeClient,
  store: ProviderStore,
  { url, app, scriptId }: { url: string | null } & Pick<TiendanubeOptions, 'app' | 'scriptId'>,
): Promise<Precondition[]> {
  let plan: string | null
  try {
    plan = (await readShop(client, store)).plan
  } catch (error) {
    if (error instanceof AccessLost) return [missing(error.code, error.message, error.remedy)]
    throw error
  }
  return [
    fine('access', `Tiendanube answers, in version ${apiVersion}${plan ? ` (plan ${plan})` : ''}`),
    ...checkScopes(client.parseCredentials(store).scopes),
    ...(url === null ? [] : await checkWebhooks(client, store, url)),
    await checkScript(client, store, scriptId ?? null),
    app
      ? fine('app', 'This server has an app that any shop may install')
      : fine('app', 'Each shop brings an app of its own: this server has none that others could install'),
  ]
}

function checkScopes(granted: readonly string[] | null): Precondition[] {
  if (granted === null) {
    return [fine('scopes', 'Tiendanube does not say what an app of the shop itself may do')]
  }
  const lacking = listMissingScopes(granted)
  if (lacking.length === 0) return [fine('scopes', 'The app may do all it needs')]
  return lacking.map((scope) =>
    missing(
      `scope-${scope.replaceAll('_', '-')}`,
      `The app has no permission ${scope}`,
      `Add ${scope} to the app in the partner portal, then install it in the shop again: connect the store again`,
    ),
  )
}

async function checkWebhooks(
  client: TiendanubeClient,
  store: ProviderStore,
  url: string,
): Promise<Precondition[]> {
  if (!url.startsWith('https://')) {
    return [
      missing(
        'address',
        'Tiendanube delivers to https addresses alone',
        'Set PUBLIC_URL to an https address',
      ),
    ]
  }
  const known = await listRegistered(client, store, url)
  const lacking = expectedEvents.filter((event) => !known.has(event))
  return lacking.length === 0
    ? [fine('webhooks', 'Tiendanube reports every change of orders and products; carts are read every hour')]
    : [
        missing(
          'webhooks',
          `Tiendanube does not report ${lacking.join(', ')}`,
          'Nothing to do while the worker runs: they are registered again within 15 minutes',
        ),
      ]
}

async function checkScript(
  client: TiendanubeClient,
  store: ProviderStore,
  scriptId: number | null,
): Promise<Precondition> {
  if (scriptId === null) {
    return missing(
      'loader',
      "The server's app has no script, so widgets appear only in themes that load it themselves",
      'Upload operations/store/ecommerce/tiendanube/installation/loader.js in the partner portal, and add script= to ECOMMERCE_URL',
    )
  }
  const script = (await listAssociated(client, store)).find(({ id }) => id === scriptId)
  if (!script) {
    return missing('loader', 'The shop does not load the script yet', 'Switch a widget on: that installs it')
  }
  return script.current_version
    ? fine('loader', 'The shop loads the script')
    : missing(
        'loader',
        'No version of the script is deployed',
        'Deploy a version of it in the partner portal',
      )
}
