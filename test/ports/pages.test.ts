/** Endless pages of a provider: every paginated list detects the loop. */
import { expect, test } from 'vitest'
import { listCategories } from '#operations/store/ecommerce/shopify/categories'
import { listActiveDiscounts } from '#operations/store/ecommerce/shopify/discount-calls'
import { listScripts } from '#operations/store/ecommerce/shopify/installation/scripts'
import { registeredTopics } from '#operations/store/ecommerce/shopify/installation/webhooks'
import { listEntries } from '#operations/store/ecommerce/shopify/ledger'
import { readStock } from '#operations/store/ecommerce/shopify/products'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { readPages, resumePages } from '#runtime/ports/pagination'

const store = { id: 'store', credentials: null }
const around = { nodes: [], pageInfo: { hasNextPage: true, endCursor: 'again' } }

/** Every page leads back to an earlier one. */
function createCircularPages() {
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
        scriptTags: around,
        webhookSubscriptions: around,
        shop: { metafields: around, primaryDomain: { host: 'shop.example.com' } },
      }),
  }
  return { client: client as never, calls }
}

test.each<[string, (client: never) => Promise<unknown>]>([
  ['scripts', (client) => listScripts(client, store, 0)],
  ['categories', (client) => listCategories(client, store)],
  ['discounts', (client) => listActiveDiscounts(client, store)],
  ['ledger', (client) => listEntries(client, store)],
  ['variants', (client) => readStock(client, store, ['1'])],
  ['webhooks', (client) => registeredTopics(client, store, 'https://api.example.com/hook')],
])('%s of a platform with circular pages', async (_name, list) => {
  const { client, calls } = createCircularPages()
  await expect(list(client)).rejects.toThrow(Unavailable)
  expect(calls.made).toBe(2)
})

test('pages come in order until the last; reading can resume from a page', async () => {
  const pages: Record<string, { rows: number[]; next: string | null }> = {
    first: { rows: [1], next: 'b' },
    b: { rows: [2], next: 'c' },
    c: { rows: [3], next: null },
  }
  const rowsFrom = async (first: string | null): Promise<number[]> => {
    const rows: number[] = []
    const read = async (cursor: string | null) => pages[cursor ?? 'first']!
    for await (const page of readPages(read, ({ next }) => next, first)) rows.push(...page.rows)
    return rows
  }
  expect(await rowsFrom(null)).toEqual([1, 2, 3])
  expect(await rowsFrom('b')).toEqual([2, 3])
})

test('a loop over several pages, and endless pages', async () => {
  const taken: string[] = []
  const ring: Record<string, string> = { a: 'b', b: 'c', c: 'a' }
  const walk = async (nextOf: (page: string) => string): Promise<void> => {
    for await (const page of readPages(async (cursor) => cursor ?? 'a', nextOf)) taken.push(page)
  }
  await expect(walk((page) => ring[page]!)).rejects.toThrow("The provider's pages do not end")
  expect(taken.length).toBeLessThanOrEqual(4)
  taken.length = 0
  await expect(walk((page) => `${page}x`.slice(0, 4) + String(taken.length))).rejects.toThrow(Unavailable)
  expect(taken).toHaveLength(10_000)
})

test('if the provider rejects an old cursor, reading starts over', async () => {
  const asked: (string | null)[] = []
  const from = async (kept: string | null, refused: (string | null)[]): Promise<number[]> => {
    asked.length = 0
    const rows: number[] = []
    const read = async (cursor: string | null) => {
      asked.push(cursor)
      if (refused.includes(cursor))
        throw new Refused(
          'bad-cursor',
          'cursor: was not issued by this platform, leave it out to start again',
        )
      return cursor === 'b' ? { rows: [2], next: null } : { rows: [1], next: 'b' }
    }
    for await (const page of resumePages(read, ({ next }) => next, kept)) rows.push(...page.rows)
    return rows
  }
  expect([await from('old', ['old']), asked]).toEqual([
    [1, 2],
    ['old', null, 'b'],
  ])
  expect([await from('b', []), asked]).toEqual([[2], ['b']])
  expect([await from(null, []), asked]).toEqual([
    [1, 2],
    [null, 'b'],
  ])
  // A refusal that is not about the cursor, and one within the walk.
  await expect(from('old', ['old', null])).rejects.toThrow(Refused)
  await expect(from(null, ['b'])).rejects.toThrow(Refused)
  await expect(from('old', ['old', 'b'])).rejects.toThrow(Refused)
})
