/**
 * The loader on the shop's pages: an app embed block of our theme app extension (../app), which its owner switches on in
 * the theme's editor; it reads the loader's address from a metafield of the app's installation. Script tags, with which
 * it was put there before, cannot be made since October 2026: those that are there load until March 2027, and go away
 * once the block is seen to work.
 */
import { Refused } from '#runtime/ports/errors'
import { pagesOf } from '#runtime/ports/pages'
import type { ProviderStore } from '#runtime/ports/provider'
import { requireNoErrors, type UserError } from '../http/answers.ts'
import type { ShopifyClient } from '../http/client.ts'

export interface RestScript {
  id: number
  src: string
  created_at: string
}

const scriptsAtOnce = 250
/** From this day on Shopify loads no script tag. */
export const scriptTagsEndAt = Date.parse('2027-03-01T00:00:00Z')

/** The name of the file of the app embed block, without its ending. */
export const embedBlock = 'loader'
/** Where the block finds the address, as `app.metafields.storefront.loader`. */
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

async function installationOf(client: ShopifyClient, store: ProviderStore) {
  const { currentAppInstallation } = await client.graph<Installation>(store, installationDocument)
  return currentAppInstallation
}

/** Script tags that Shopify still loads; none where the app may not see them, and none after their end. */
export async function listScripts(
  client: ShopifyClient,
  store: ProviderStore,
  nowMs: number,
): Promise<{ id: string; src: string; createdAt: Date }[]> {
  if (nowMs >= scriptTagsEndAt) return []
  const scripts = await tagsOf(client, store)
  return scripts.map(({ id, src, created_at }) => ({ id: String(id), src, createdAt: new Date(created_at) }))
}

async function tagsOf(client: ShopifyClient, store: ProviderStore): Promise<RestScript[]> {
  const scripts: RestScript[] = []
  const read = (page: string | null) =>
    client.rest<{ script_tags: RestScript[] }>(store, {
      path: 'script_tags.json',
      query: { limit: scriptsAtOnce, ...(page ? { page_info: page } : {}) },
    })
  try {
    for await (const { body } of pagesOf(read, ({ next }) => next)) scripts.push(...body.script_tags)
  } catch (error) {
    // An app of today does not ask for this permission: it has no tags.
    if (error instanceof Refused && error.code === 'missing-permission') return []
    throw error
  }
  return scripts
}

/** Tells the block the address. The id is that of a tag which does the same still, or null. */
export async function placeLoader(
  client: ShopifyClient,
  store: ProviderStore,
  { src }: { src: string },
  nowMs: number,
): Promise<{ id: string | null }> {
  if (!src.startsWith('https://')) {
    const why = 'Shopify loads scripts from https addresses alone: this server needs one (PUBLIC_URL)'
    throw new Refused('invalid-address', why)
  }
  const { id: ownerId, metafield } = await installationOf(client, store)
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

/** Takes away the tags with this address: the block does their work. */
export async function removeTags(
  client: ShopifyClient,
  store: ProviderStore,
  { src }: { src: string },
): Promise<void> {
  for (const { id } of (await tagsOf(client, store)).filter((script) => script.src === src)) {
    await client.rest(store, { method: 'DELETE', path: `script_tags/${id}.json` }).catch((error: unknown) => {
      // Somebody else was faster.
      if (!(error instanceof Refused && error.code === 'not-found')) throw error
    })
  }
}

/** Opens the theme's editor with the block switched on: what is left is to save. */
export async function activationLink(client: ShopifyClient, store: ProviderStore): Promise<string> {
  const credentials = client.credentialsOf(store)
  const key =
    credentials.kind === 'token' ? (await installationOf(client, store)).app.apiKey : credentials.clientId
  const query = `context=apps&activateAppId=${encodeURIComponent(key)}/${embedBlock}`
  return `https://${credentials.shop}/admin/themes/current/editor?${query}`
}
