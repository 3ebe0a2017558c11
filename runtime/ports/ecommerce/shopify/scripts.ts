/** Scripts of the online store. Shopify loads them on all its pages but those of the checkout. */
import { Refused, Unavailable } from '../../errors.ts'
import { pagesOf } from '../../pages.ts'
import type { ProviderStore } from '../../provider.ts'
import type { ShopifyClient } from './http/client.ts'

export interface RestScript {
  id: number
  src: string
  created_at: string
}

const scriptsAtOnce = 250

export async function listScripts(
  client: ShopifyClient,
  store: ProviderStore,
): Promise<{ id: string; src: string; createdAt: Date }[]> {
  const scripts: RestScript[] = []
  const read = (page: string | null) =>
    client.rest<{ script_tags: RestScript[] }>(store, {
      path: 'script_tags.json',
      query: { limit: scriptsAtOnce, ...(page ? { page_info: page } : {}) },
    })
  for await (const { body } of pagesOf(read, ({ next }) => next)) scripts.push(...body.script_tags)
  return scripts.map(({ id, src, created_at }) => ({ id: String(id), src, createdAt: new Date(created_at) }))
}

/** Shopify would take one twice: it is looked for first, and two who came at once agree on the older. */
export async function ensureScript(
  client: ShopifyClient,
  store: ProviderStore,
  { src }: { src: string },
): Promise<{ id: string }> {
  if (!src.startsWith('https://')) {
    const why = 'Shopify loads scripts from https addresses alone: this server needs one (PUBLIC_URL)'
    throw new Refused('invalid-address', why)
  }
  const known = (await scriptsFrom(client, store, src))[0]
  if (known) return { id: String(known.id) }
  const made = await create(client, store, src)
  const [oldest, ...others] = await scriptsFrom(client, store, src)
  for (const { id } of others) {
    if (id === made?.id) await client.rest(store, { method: 'DELETE', path: `script_tags/${id}.json` })
  }
  const kept = oldest ?? made
  if (!kept) throw new Unavailable('unknown', 'Shopify did not say whether it took the script')
  return { id: String(kept.id) }
}

/** The oldest first. */
async function scriptsFrom(client: ShopifyClient, store: ProviderStore, src: string): Promise<RestScript[]> {
  const { body } = await client.rest<{ script_tags: RestScript[] }>(store, {
    path: 'script_tags.json',
    query: { src, limit: scriptsAtOnce },
  })
  return body.script_tags.sort((a, b) => a.id - b.id)
}

/** Null where nobody knows: it is looked for. */
async function create(client: ShopifyClient, store: ProviderStore, src: string): Promise<RestScript | null> {
  try {
    const { body } = await client.rest<{ script_tag: RestScript }>(store, {
      method: 'POST',
      path: 'script_tags.json',
      body: { script_tag: { event: 'onload', src, display_scope: 'online_store' } },
    })
    return body.script_tag
  } catch (error) {
    if (error instanceof Unavailable && error.accepted === 'unknown') return null
    throw error
  }
}
