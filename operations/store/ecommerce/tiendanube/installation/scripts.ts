/**
 * Installs the storefront loader on the shop's pages. Tiendanube loads only scripts that were uploaded in the partner
 * portal: ours is ./loader.js, once for all shops. The API associates it with a shop, with the loader's URL as parameter.
 */
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import type { TiendanubeClient } from '../http/client.ts'

interface ApiScript {
  id: number
  status: string
  created_at: string
  params?: { src?: unknown } | null
  current_version: { id: number } | null
}

/** Reads the scripts of the app that are associated with the shop. */
export async function listAssociated(client: TiendanubeClient, store: ProviderStore): Promise<ApiScript[]> {
  const query = { page: 1, per_page: 200 }
  const answer = await client.find<{ result: ApiScript[] }>(store, { path: 'scripts', query })
  return answer?.result ?? []
}

export async function listScripts(
  client: TiendanubeClient,
  store: ProviderStore,
): Promise<{ id: string; src: string; createdAt: Date }[]> {
  const scripts = await listAssociated(client, store)
  return scripts.flatMap(({ id, params, created_at: at }) =>
    typeof params?.src === 'string' ? [{ id: String(id), src: params.src, createdAt: new Date(at) }] : [],
  )
}

/** Idempotent. Another URL replaces the one before. */
export async function ensureScript(
  client: TiendanubeClient,
  store: ProviderStore,
  { src }: { src: string },
  scriptId: number | null,
): Promise<{ id: string | null }> {
  const associated = await listAssociated(client, store)
  if (scriptId === null) {
    throw new Refused(
      'no-script',
      "This server's Tiendanube app has no script yet: upload it in the partner portal, and add its number to ECOMMERCE_URL",
    )
  }
  if (!src.startsWith('https://')) {
    throw new Refused(
      'invalid-address',
      'Shops load scripts from https addresses alone: this server needs one (PUBLIC_URL)',
    )
  }
  const known = associated.find(({ id }) => id === scriptId)
  const body = { script_id: scriptId, query_params: JSON.stringify({ src }) }
  if (!known) await client.call(store, { method: 'POST', path: 'scripts', body })
  else if (known.params?.src !== src) {
    await client.call(store, { method: 'PUT', path: `scripts/${scriptId}`, body })
  }
  return { id: String(scriptId) }
}
