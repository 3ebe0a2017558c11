/**
 * Reads and writes the ledger of our discounts. It is stored at Shopify: one metafield of the shop per reference, in a
 * namespace visible only to this app. The entry of a removed discount stays as a tombstone, so that a late call with an
 * older revision changes nothing. Writes use an optimistic lock (`compareDigest`).
 */
import { Unavailable } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { QuantityDiscount } from '../discounts.ts'
import {
  type Document,
  ledgerDocument,
  ledgerEntryDocument,
  writeLedgerDocument,
} from './documents/documents.ts'
import { requireNoErrors } from './http/answers.ts'
import type { ShopifyClient } from './http/client.ts'

export interface Entry {
  reference: string
  revision: number
  /** The desired discount; null: the discount is removed. */
  spec: QuantityDiscount | null
  /** Shopify's id of the discount; null until it is known. */
  platformId: string | null
  /** Creations that got no response yet. If the response was lost, the created discount is found by their fingerprints. */
  unheard: PendingCreations | null
}

export interface PendingCreations {
  since: string
  made: { title: string; fingerprint: string }[]
}

export interface VersionedEntry {
  entry: Entry
  digest: string
}

const namespace = '$app:discounts'
const pageSize = 50

/** The metafield's key: Shopify allows no colons in keys. */
const toKey = (reference: string): string => reference.replaceAll(':', '_')

interface Metafield {
  value: string
  compareDigest: string
}

const parseEntry = ({ value, compareDigest }: Metafield): VersionedEntry => ({
  entry: JSON.parse(value) as Entry,
  digest: compareDigest,
})

/** Reads the entry of a reference, or null, and the id of the shop. */
export async function findEntry(
  client: ShopifyClient,
  store: ProviderStore,
  reference: string,
): Promise<{ shopId: string; found: VersionedEntry | null }> {
  const { shop } = await client.graph(store, ledgerEntryDocument, { key: toKey(reference) })
  return { shopId: shop.id, found: shop.metafield && parseEntry(shop.metafield) }
}

/** Reads the entries of these references; references without an entry are left out. */
export async function findEntries(
  client: ShopifyClient,
  store: ProviderStore,
  references: readonly string[],
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let i = 0; i < references.length; i += pageSize) {
    const some = references.slice(i, i + pageSize)
    const names = some.map((_, at) => `$k${at}: String!`).join(', ')
    const selections = some.map(
      (_, at) => `m${at}: metafield(namespace: "${namespace}", key: $k${at}) { value compareDigest }`,
    )
    // The number of keys varies, so this document is not a generated one.
    const document = `query LedgerEntries(${names}) { shop { ${selections.join('\n')} } }` as Document<
      { shop: Record<string, Metafield | null> },
      Record<string, string>
    >
    const keys = Object.fromEntries(some.map((reference, at) => [`k${at}`, toKey(reference)]))
    const { shop } = await client.graph(store, document, keys)
    for (const metafield of Object.values(shop)) if (metafield) entries.push(parseEntry(metafield).entry)
  }
  return entries
}

export async function listEntries(client: ShopifyClient, store: ProviderStore): Promise<Entry[]> {
  const entries: Entry[] = []
  const ask = (after: string | null) => client.graph(store, ledgerDocument, { after })
  for await (const { shop } of readPages(ask, (page) => getEndCursor(page.shop.metafields.pageInfo))) {
    entries.push(...shop.metafields.nodes.map((metafield) => parseEntry(metafield).entry))
  }
  return entries
}

/** Codes of a conflict. Shopify does not document which of them the second writer of a new key gets. */
const staleCodes: readonly string[] = ['STALE_OBJECT', 'INVALID_COMPARE_DIGEST', 'TAKEN']

/** Replaces the entry that has this digest; null: the entry is new. Returns the new digest, or null on a conflict. */
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
    key: toKey(entry.reference),
    type: 'json',
    value: JSON.stringify(entry),
    compareDigest: digest,
  }
  const { metafieldsSet: written } = await client.graph(store, writeLedgerDocument, {
    metafields: [metafield],
  })
  const errors = written?.userErrors ?? []
  if (errors.some(({ code }) => code && staleCodes.includes(code))) return null
  requireNoErrors(errors)
  const [made] = written?.metafields ?? []
  if (!made) throw new Unavailable('unknown', 'Shopify did not say whether it wrote the discount down')
  return made.compareDigest
}
