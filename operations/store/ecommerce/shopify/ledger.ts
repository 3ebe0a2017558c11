/**
 * Which discounts are ours, written down at Shopify itself: a metafield of the shop for each reference, in the
 * namespace that only this app sees. An entry stays when its discount goes, so that a late call with an older revision
 * changes nothing. It is only ever written over the value that was read (`compareDigest`): of two writers one is told
 * that it was too late.
 */
import { Unavailable } from '#runtime/ports/errors'
import { afterOf, pagesOf } from '#runtime/ports/pages'
import type { ProviderStore } from '#runtime/ports/provider'
import type { QuantityDiscount } from '../discounts.ts'
import { requireNoErrors, type UserError } from './http/answers.ts'
import type { ShopifyClient } from './http/client.ts'

export interface Entry {
  reference: string
  revision: number
  /** What shall be there; null: nothing. */
  spec: QuantityDiscount | null
  /** Of the discount, once it is known. */
  platformId: string | null
  /** What was told to be made while no id was known: where the answer was lost, it is looked for by this. */
  unheard: Unheard | null
}

export interface Unheard {
  since: string
  made: { title: string; fingerprint: string }[]
}

export interface ReadEntry {
  entry: Entry
  digest: string
}

const namespace = '$app:discounts'
const entriesAtOnce = 50

/** Shopify's keys have no colons. */
const keyOf = (reference: string): string => reference.replaceAll(':', '_')

const fields = 'value compareDigest'
interface Metafield {
  value: string
  compareDigest: string
}

const read = ({ value, compareDigest }: Metafield): ReadEntry => ({
  entry: JSON.parse(value) as Entry,
  digest: compareDigest,
})

const findDocument = `query LedgerEntry($key: String!) {
  shop { id metafield(namespace: "${namespace}", key: $key) { ${fields} } }
}`

/** Null where it was never heard of; the shop's own id beside it. */
export async function findEntry(
  client: ShopifyClient,
  store: ProviderStore,
  reference: string,
): Promise<{ shopId: string; found: ReadEntry | null }> {
  const { shop } = await client.graph<{ shop: { id: string; metafield: Metafield | null } }>(
    store,
    findDocument,
    { key: keyOf(reference) },
  )
  return { shopId: shop.id, found: shop.metafield && read(shop.metafield) }
}

/** Those of these references that were heard of. */
export async function findEntries(
  client: ShopifyClient,
  store: ProviderStore,
  references: readonly string[],
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let i = 0; i < references.length; i += entriesAtOnce) {
    const some = references.slice(i, i + entriesAtOnce)
    const names = some.map((_, at) => `$k${at}: String!`).join(', ')
    const asked = some.map(
      (_, at) => `m${at}: metafield(namespace: "${namespace}", key: $k${at}) { ${fields} }`,
    )
    const { shop } = await client.graph<{ shop: Record<string, Metafield | null> }>(
      store,
      `query LedgerEntries(${names}) { shop { ${asked.join('\n')} } }`,
      Object.fromEntries(some.map((reference, at) => [`k${at}`, keyOf(reference)])),
    )
    for (const metafield of Object.values(shop)) if (metafield) entries.push(read(metafield).entry)
  }
  return entries
}

const allDocument = `query Ledger($after: String) {
  shop {
    metafields(namespace: "${namespace}", first: ${entriesAtOnce}, after: $after) {
      nodes { ${fields} }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

interface All {
  shop: { metafields: { nodes: Metafield[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } }
}

export async function allEntries(client: ShopifyClient, store: ProviderStore): Promise<Entry[]> {
  const entries: Entry[] = []
  const ask = (after: string | null) => client.graph<All>(store, allDocument, { after })
  for await (const { shop } of pagesOf(ask, (page) => afterOf(page.shop.metafields.pageInfo))) {
    entries.push(...shop.metafields.nodes.map((metafield) => read(metafield).entry))
  }
  return entries
}

const writeDocument = `mutation WriteLedger($metafields: [MetafieldsSetInput!]!) {
  metafieldsSet(metafields: $metafields) {
    metafields { compareDigest }
    userErrors { field message code }
  }
}`

interface Written {
  metafieldsSet: { metafields: { compareDigest: string }[] | null; userErrors: UserError[] }
}

/** Shopify does not say which of these whoever comes second to a new key is told. */
const staleCodes = ['STALE_OBJECT', 'INVALID_COMPARE_DIGEST', 'TAKEN']

/** Writes over the version with this digest (null: none yet). Answers the new digest; null: somebody was faster. */
export async function writeEntry(
  client: ShopifyClient,
  store: ProviderStore,
  shopId: string,
  entry: Entry,
  digest: string | null,
): Promise<string | null> {
  const metafield = {
    ownerId: shopId,
    namespace,
    key: keyOf(entry.reference),
    type: 'json',
    value: JSON.stringify(entry),
    compareDigest: digest,
  }
  const { metafieldsSet: written } = await client.graph<Written>(store, writeDocument, {
    metafields: [metafield],
  })
  if (written.userErrors.some(({ code }) => code && staleCodes.includes(code))) return null
  requireNoErrors(written.userErrors)
  const [made] = written.metafields ?? []
  if (!made) throw new Unavailable('unknown', 'Shopify did not say whether it wrote the discount down')
  return made.compareDigest
}
