/** A provider's pages that never end: each list notices, whoever makes it. */
import { expect, test } from 'vitest'
import { listCategories } from '#runtime/ports/ecommerce/shopify/categories'
import { activeDiscounts } from '#runtime/ports/ecommerce/shopify/discount-calls'
import { listScripts } from '#runtime/ports/ecommerce/shopify/installation/scripts'
import { allEntries } from '#runtime/ports/ecommerce/shopify/ledger'
import { allVariants } from '#runtime/ports/ecommerce/shopify/products'
import { Unavailable } from '#runtime/ports/errors'
import { pagesOf } from '#runtime/ports/pages'

const store = { id: 'store', credentials: null }
const around = { nodes: [], pageInfo: { hasNextPage: true, endCursor: 'again' } }

/** Its every page leads to one that was there before. */
function circling() {
  const calls = { made: 0 }
  const answer = async <T>(value: T): Promise<T> => {
    calls.made += 1
    if (calls.made > 20) throw new Error('nobody noticed')
    return value
  }
  const client = {
    graph: () =>
      answer({
        discountNodes: around,
        collections: around,
        productVariants: around,
        shop: { metafields: around, primaryDomain: { host: 'shop.example.com' } },
      }),
    rest: () => answer({ body: { script_tags: [] }, next: 'again' }),
  }
  return { client: client as never, calls }
}

test.each<[string, (client: never) => Promise<unknown>]>([
  ['scripts', (client) => listScripts(client, store, 0)],
  ['categories', (client) => listCategories(client, store)],
  ['discounts', (client) => activeDiscounts(client, store)],
  ['ledger', (client) => allEntries(client, store)],
  ['variants', (client) => allVariants(client, store, { id: 1, title: 'One' } as never)],
])('%s of a platform whose pages lead back', async (_name, list) => {
  const { client, calls } = circling()
  await expect(list(client)).rejects.toThrow(Unavailable)
  expect(calls.made).toBe(2)
})

test('pages in order, until there is no next; from where one left off too', async () => {
  const pages: Record<string, { rows: number[]; next: string | null }> = {
    first: { rows: [1], next: 'b' },
    b: { rows: [2], next: 'c' },
    c: { rows: [3], next: null },
  }
  const rowsFrom = async (first: string | null): Promise<number[]> => {
    const rows: number[] = []
    const read = async (cursor: string | null) => pages[cursor ?? 'first']!
    for await (const page of pagesOf(read, ({ next }) => next, first)) rows.push(...page.rows)
    return rows
  }
  expect(await rowsFrom(null)).toEqual([1, 2, 3])
  expect(await rowsFrom('b')).toEqual([2, 3])
})

test('a way round of several pages, and pages without number', async () => {
  const taken: string[] = []
  const ring: Record<string, string> = { a: 'b', b: 'c', c: 'a' }
  const walk = async (nextOf: (page: string) => string): Promise<void> => {
    for await (const page of pagesOf(async (cursor) => cursor ?? 'a', nextOf)) taken.push(page)
  }
  await expect(walk((page) => ring[page]!)).rejects.toThrow("The provider's pages do not end")
  expect(taken.length).toBeLessThanOrEqual(4)
  taken.length = 0
  await expect(walk((page) => `${page}x`.slice(0, 4) + String(taken.length))).rejects.toThrow(Unavailable)
  expect(taken).toHaveLength(10_000)
})
