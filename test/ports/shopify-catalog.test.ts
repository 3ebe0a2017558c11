import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product, ProductQuery } from '#operations/store/ecommerce/port'
import { buildSearchQuery } from '#operations/store/ecommerce/shopify/search-query'
import { shopify } from './shopify.ts'

let opened: Awaited<ReturnType<typeof shopify>>
const search = (query: Partial<ProductQuery>) =>
  opened.port.searchProducts(opened.store, { sort: 'name', page: 1, limit: 20, ...query })

const many = 620

describe('a catalog of hundreds', () => {
  beforeAll(async () => {
    opened = await shopify()
    const { shop } = opened
    for (let i = 0; i < 300; i += 1) shop.addCollection({ id: String(10_000 + i), name: `Zona ${i}` })
    for (let i = 0; i < many; i += 1) {
      shop.addProduct({
        id: String(50_000 + i),
        name: `Peça ${String(i).padStart(4, '0')}`,
        tags: ['peça'],
        // One product is in more collections than the first request reads.
        categoryIds: i === 7 ? Array.from({ length: 30 }, (_, at) => String(10_000 + at)) : ['10001'],
        // One product has more variants than a page.
        variants: Array.from({ length: i === 9 ? 130 : 1 }, (_, at) => ({
          id: String(1_000_000 + i * 1000 + at),
          ...(i === 9 ? { name: `V${at}` } : {}),
          price: at === 129 ? 0.5 : (i % 50) + 1,
          stock: i % 3 === 0 ? 0 : 2,
        })),
      })
    }
  })
  afterAll(() => opened.standIn.close())

  test('consecutive pages cost one request each', async () => {
    const { standIn } = opened
    const seen: Product[] = []
    standIn.requests.length = 0
    let total = 0
    for (let page = 1; page === 1 || (page - 1) * 100 < total; page += 1) {
      const found = await search({ page, limit: 100 })
      total = found.total
      seen.push(...found.products)
    }
    expect(total).toBe(many + 3)
    expect(new Set(seen.map(({ id }) => id)).size).toBe(many + 3)
    expect(standIn.requests.filter((each) => each === 'graph SearchProducts')).toHaveLength(7)
  })

  test('a page in the middle is found without the previous ones; one past the end is empty', async () => {
    const fresh = await shopify()
    try {
      fresh.shop.products.push(...opened.shop.products.slice(3))
      const query = { sort: 'name', page: 5, limit: 90, search: 'peça' } as const
      const { products, total } = await fresh.port.searchProducts(fresh.store, query)
      expect(products.map(({ name }) => name).slice(0, 2)).toEqual(['Peça 0360', 'Peça 0361'])
      expect([products.length, total]).toEqual([90, many])
      const beyond = await fresh.port.searchProducts(fresh.store, { ...query, page: 50 })
      expect(beyond).toEqual({ products: [], total: many })
    } finally {
      await fresh.standIn.close()
    }
  })

  test('products are sorted by price, and by availability, over all pages', async () => {
    const cheap = await search({ sort: 'price', limit: 100, search: 'peça' })
    const prices = cheap.products.map(({ price }) => price)
    expect(prices).toEqual([...prices].sort((a, b) => a - b))
    expect(prices[0]).toBe(0.5)
    expect(cheap.total).toBe(many)
    const gone = await search({ inStock: false, search: 'peça', page: 2, limit: 100 })
    expect(gone.total).toBe(207)
    expect(gone.products.every(({ stock }) => stock === 0)).toBe(true)
    expect(gone.products[0]!.name).toBe('Peça 0300')
  })

  test('a catalog too large to sort is refused, with a remedy', async () => {
    const { shop } = opened
    const before = shop.products.length
    for (let i = 0; i < 5000; i += 1) {
      shop.addProduct({
        id: String(900_000 + i),
        name: 'x',
        variants: [{ id: String(9_000_000 + i), price: 1 }],
      })
    }
    for (const query of [{ sort: 'price' }, { inStock: true }] as const) {
      await expect(search(query)).rejects.toMatchObject({
        code: 'too-many-products',
        message: expect.stringMatching(/^(sort|inStock): .*narrow the search$/),
      })
    }
    shop.products.length = before
  })

  test('all collections of a product, all variants of a product, all collections', async () => {
    const { port, store } = opened
    const [tagged, varied] = await port.getProducts(store, { ids: ['50007', '50009'] })
    expect(tagged!.categories).toHaveLength(30)
    expect(varied!.variants).toHaveLength(130)
    expect(varied).toMatchObject({ price: 0.5, stock: 0 })
    expect(varied!.variants[129]).toMatchObject({ name: 'V129', options: [{ name: 'Color', value: 'V129' }] })
    const categories = await port.listCategories(store)
    expect(categories).toHaveLength(303)
    expect(categories.map(({ position }) => position)).toEqual(categories.map((_, at) => at + 1))
  })

  test('the dates of all products cost a request for 250', async () => {
    const { port, store, standIn } = opened
    standIn.requests.length = 0
    const dates = new Map<string, string>()
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: Awaited<ReturnType<typeof port.listProductDates>> = await port.listProductDates(
        store,
        cursor,
      )
      for (const { id, updatedAt } of page.products) dates.set(id, updatedAt)
      cursor = page.next
    }
    expect([dates.size, standIn.requests.length]).toEqual([many + 3, 3])
    const [product] = await port.getProducts(store, { ids: ['50007'] })
    expect(dates.get('50007')).toBe(product!.updatedAt)
  })

  test('hundreds of ids, unknown and foreign ones included', async () => {
    const { port, store, standIn } = opened
    const ids = Array.from({ length: 120 }, (_, i) => String(50_119 - i))
    standIn.requests.length = 0
    const products = await port.getProducts(store, { ids: [...ids, '404404', '', "1' OR 1", ids[0]!] })
    expect(products.map(({ id }) => id)).toEqual(ids)
    expect(standIn.requests.filter((each) => each === 'graph Products')).toHaveLength(7)
    expect(standIn.requests.filter((each) => each === 'graph Variants').length).toBeLessThanOrEqual(8)
  })
})

test('sub-collections have a parent, and collections that contain each other do not hide', async () => {
  const { standIn, shop, port, store } = await shopify()
  const [home, kitchen, clothes] = shop.collections
  home!.subCollectionIds.push(kitchen!.id)
  kitchen!.subCollectionIds.push(clothes!.id, 404)
  clothes!.subCollectionIds.push(home!.id, kitchen!.id, clothes!.id)
  const categories = await port.listCategories(store)
  expect(categories.map(({ parentId, path, position }) => [parentId, path, position])).toEqual([
    [null, 'Casa', 1],
    ['301', 'Casa > Cozinha', 2],
    ['302', 'Casa > Cozinha > Vestuário', 3],
  ])
  expect(categories[0]!.productCount).toBe(2)
  await standIn.close()
})

describe('a search in its syntax', () => {
  test.each([
    [{}, ''],
    [{ categoryId: 'casa' }, null],
    [{ ids: ['x'] }, null],
    [{ ids: ['1', 'x', '2'], categoryId: '3' }, '(id:1 OR id:2) AND collection_id:3'],
    [{ search: ' "*" ' }, null],
    [{ search: `-d'a*` }, `(title:d'a* OR sku:d'a* OR tag:d'a* OR vendor:d'a*)`],
    [{ isPublished: true }, 'status:active AND published_status:published'],
    [{ isPublished: false }, '(-status:active OR published_status:unpublished)'],
    [
      { search: 'a:(b)' },
      '(title:a\\:\\(b\\)* OR sku:a\\:\\(b\\)* OR tag:a\\:\\(b\\)* OR vendor:a\\:\\(b\\)*)',
    ],
    [
      { search: ' pé ' },
      '(title:pé* OR title:pe* OR sku:pé* OR sku:pe* OR tag:pé* OR tag:pe* OR vendor:pé* OR vendor:pe*)',
    ],
  ])('%j', (query, text) => {
    expect(buildSearchQuery(query)).toBe(text)
  })
})
