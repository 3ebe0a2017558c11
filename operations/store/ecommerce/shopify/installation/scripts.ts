/**
 * Installs the storefront loader on the shop's pages. The loader is an app embed block of our theme app extension (../app),
 * which the shop's owner activates in the theme editor. The block reads the loader's URL from a metafield of the app
 * installation. Before, the loader was a script tag. Since October 2026 Shopify accepts no new script tags, and it loads
 * existing ones until March 2027. We remove them once the block works.
 */
import { Refused } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import {
  deleteScriptTagDocument,
  installationDocument,
  type ScriptTagsQuery,
  scriptTagsDocument,
  tellLoaderDocument,
} from '../documents/documents.ts'
import { requireNoErrors } from '../http/answers.ts'
import type { ShopifyClient } from '../http/client.ts'
import { plainId } from '../http/ids.ts'

/** Shopify stops loading script tags on this day. */
export const scriptTagsEndAt = Date.parse('2027-03-01T00:00:00Z')

/** File name of the app embed block, without extension. */
export const embedBlock = 'loader'
/** The metafield with the loader's URL; the block reads it as `app.metafields.storefront.loader`. */
export const loaderMetafield = { namespace: 'storefront', key: 'loader' } as const

async function readInstallation(client: ShopifyClient, store: ProviderStore) {
  return (await client.graph(store, installationDocument)).currentAppInstallation
}

/** Script tags that Shopify still loads; none if the app lacks the permission, and none after `scriptTagsEndAt`. */
export async function listScripts(
  client: ShopifyClient,
  store: ProviderStore,
  nowMs: number,
): Promise<{ id: string; src: string; createdAt: Date }[]> {
  if (nowMs >= scriptTagsEndAt) return []
  const scripts = await listTags(client, store)
  return scripts.map(({ id, src, createdAt }) => ({ id: plainId(id), src, createdAt: new Date(createdAt) }))
}

async function listTags(
  client: ShopifyClient,
  store: ProviderStore,
): Promise<ScriptTagsQuery['scriptTags']['nodes']> {
  const scripts: ScriptTagsQuery['scriptTags']['nodes'] = []
  const read = (after: string | null) => client.graph(store, scriptTagsDocument, { after })
  try {
    for await (const { scriptTags } of readPages(read, (page) => getEndCursor(page.scriptTags.pageInfo))) {
      scripts.push(...scriptTags.nodes)
    }
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
    const { metafieldsSet } = await client.graph(store, tellLoaderDocument, { metafields: [written] })
    requireNoErrors(metafieldsSet?.userErrors ?? [])
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
    const { scriptTagDelete } = await client.graph(store, deleteScriptTagDocument, { id })
    const errors = scriptTagDelete?.userErrors ?? []
    if (errors.length === 0) continue
    // Another call may have removed the script tag already.
    const tags = await listTags(client, store)
    if (tags.some((script) => script.id === id)) requireNoErrors(errors)
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
