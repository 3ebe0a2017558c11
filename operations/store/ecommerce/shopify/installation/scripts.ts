/**
 * Installs the storefront loader on the shop's pages. The loader is an app embed block of our theme app extension (../app),
 * which the shop's owner activates in the theme editor. The block reads the loader's URL from a metafield of the app
 * installation. Before, the loader was a script tag. Since October 2026 Shopify accepts no new script tags, and it loads
 * existing ones until March 2027. We remove them once the block works.
 */
import { Refused } from '#runtime/ports/errors'
import { readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import { requireNoErrors, type UserError } from '../http/answers.ts'
import type { ShopifyClient } from '../http/client.ts'

export interface RestScript {
  id: number
  src: string
  created_at: string
}

const pageSize = 250
/** Shopify stops loading script tags on this day. */
export const scriptTagsEndAt = Date.parse('2027-03-01T00:00:00Z')

/** File name of the app embed block, without extension. */
export const embedBlock = 'loader'
/** The metafield with the loader's URL; the block reads it as `app.metafields.storefront.loader`. */
export const loaderMetafield = { namespace: 'storefront', key: 'loader' } as const

const installationDocument = `query Installation {
  currentAppInstallation {
    id
    app { apiKey }
    metafield(namespace: "${loaderMetafield.namespace}", key: "${loaderMetafield.key}") { value }
  }
}`
const tellDocument = `mutation TellLoader($metafields: [MetafieldsSetInput!]!) {
  metafieldsSet(metafields: $metafields) { userErrors { field message code } }
}`

interface Installation {
  currentAppInstallation: { id: string; app: { apiKey: string }; metafield: { value: string } | null }
}

async function readInstallation(client: ShopifyClient, store: ProviderStore) {
  const { currentAppInstallation } = await client.graph<Installation>(store, installationDocument)
  return currentAppInstallation
}

/** Script tags that Shopify still loads; none if the app lacks the permission, and none after `scriptTagsEndAt`. */
export async function listScripts(
  client: ShopifyClient,
  store: ProviderStore,
  nowMs: number,
): Promise<{ id: string; src: string; createdAt: Date }[]> {
  if (nowMs >= scriptTagsEndAt) return []
  const scripts = await listTags(client, store)
  return scripts.map(({ id, src, created_at }) => ({ id: String(id), src, createdAt: new Date(created_at) }))
}

async function listTags(client: ShopifyClient, store: ProviderStore): Promise<RestScript[]> {
  const scripts: RestScript[] = []
  const read = (page: string | null) =>
    client.rest<{ script_tags: RestScript[] }>(store, {
      path: 'script_tags.json',
      query: { limit: pageSize, ...(page ? { page_info: page } : {}) },
    })
  try {
    for await (const { body } of readPages(read, ({ next }) => next)) scripts.push(...body.script_tags)
  } catch (error) {
    // Newer apps do not request this permission and have no tags.
    if (error instanceof Refused && error.code === 'missing-permission') return []
    throw error
  }
  return scripts
}

/** Writes the loader's URL to the metafield. Returns the id of a script tag that still loads this URL, or null. */
export async function setLoaderUrl(
  client: ShopifyClient,
  store: ProviderStore,
  { src }: { src: string },
  nowMs: number,
): Promise<{ id: string | null }> {
  if (!src.startsWith('https://')) {
    const why = 'Shopify loads scripts from https addresses alone: this server needs one (PUBLIC_URL)'
    throw new Refused('invalid-address', why)
  }
  const { id: ownerId, metafield } = await readInstallation(client, store)
  if (metafield?.value !== src) {
    const written = { ...loaderMetafield, ownerId, type: 'single_line_text_field', value: src }
    const { metafieldsSet } = await client.graph<{ metafieldsSet: { userErrors: UserError[] } }>(
      store,
      tellDocument,
      { metafields: [written] },
    )
    requireNoErrors(metafieldsSet.userErrors)
  }
  const scripts = await listScripts(client, store, nowMs)
  return { id: scripts.find((script) => script.src === src)?.id ?? null }
}

/** Removes the script tags with this URL. Called once the block works. */
export async function removeTags(
  client: ShopifyClient,
  store: ProviderStore,
  { src }: { src: string },
): Promise<void> {
  for (const { id } of (await listTags(client, store)).filter((script) => script.src === src)) {
    await client.rest(store, { method: 'DELETE', path: `script_tags/${id}.json` }).catch((error: unknown) => {
      // Another call has removed the script tag already.
      if (!(error instanceof Refused && error.code === 'not-found')) throw error
    })
  }
}

/** A link that opens the theme editor with the block activated; the owner only has to save. */
export async function activationLink(client: ShopifyClient, store: ProviderStore): Promise<string> {
  const credentials = client.parseCredentials(store)
  const key =
    credentials.kind === 'token' ? (await readInstallation(client, store)).app.apiKey : credentials.clientId
  const query = `context=apps&activateAppId=${encodeURIComponent(key)}/${embedBlock}`
  return `https://${credentials.shop}/admin/themes/current/editor?${query}`
}
