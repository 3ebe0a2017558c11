import { beforeAll, describe, expect, test } from 'vitest'
import changeGuide from '#operations/product-page/size-guides/api/change-guide'
import createGuide from '#operations/product-page/size-guides/api/create-guide'
import deleteGuide from '#operations/product-page/size-guides/api/delete-guide'
import listGuides from '#operations/product-page/size-guides/api/list-guides'
import { convertCell } from '#operations/product-page/size-guides/units'
import { newId } from '#runtime/values/ids'
import { type TestApp, testApp } from '#test/support/app'
import { copyRow } from '#test/support/copies'
import { connectedStore } from '#test/support/platform'
import { setRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.setClock('2026-11-20T12:00:00.000Z')
})

const tables = [
  {
    columns: ['Tamanho', 'Busto'],
    rows: [
      ['P', '84-88'],
      ['M', '88-92'],
    ],
  },
]
const create = async (shop: Shop, change: object = {}) => {
  const { status, body } = await shop.call(createGuide, { body: { name: 'Camisetas', tables, ...change } })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

test('conversion is exact, with one decimal, half up', () => {
  expect(convertCell('88-92', 'cm')).toBe('34.6-36.2')
  expect(convertCell('88', 'cm')).toBe('34.6')
  expect(convertCell('62,5', 'cm')).toBe('24.6')
  expect(convertCell('25.4', 'cm')).toBe('10')
  expect(convertCell('até 10 (P)', 'in')).toBe('até 25.4 (P)')
  expect(convertCell('0,5', 'in')).toBe('1.3')
  // 0.127 cm is exactly 0.05 in: rounded up.
  expect(convertCell('0.127', 'cm')).toBe('0.1')
  expect(convertCell('único', 'cm')).toBe('único')
})

describe('a size guide', () => {
  test('a guide has defaults; sent back unchanged it changes nothing', async () => {
    const shop = await store(app)
    const guide = await create(shop)
    expect(guide).toMatchObject({
      ...{ scope: 'all', categoryIds: [], productIds: [], excludedProductIds: [], unit: 'cm' },
      ...{ showUnitSwitch: false, instructionsHtml: null, imageUrl: null, display: 'modal' },
      ...{ linkText: 'Size guide', isActive: true, tables: [{ title: null, ...tables[0] }] },
    })
    await app.advance(1000)
    expect((await shop.call(changeGuide, { body: guide })).body).toEqual(guide)
    const changed = await shop.call(changeGuide, { body: { id: guide.id, unit: 'in' } })
    expect(changed.body).toMatchObject({ unit: 'in', tables: guide.tables })
    expect(changed.body.updatedAt > guide.updatedAt).toBe(true)
    expect((await shop.call(listGuides)).body.data).toEqual([changed.body])
  })

  test('a row of the wrong length is refused with its place, and so is a unit switch without a unit', async () => {
    const shop = await store(app)
    const refused = async (change: object): Promise<string> => {
      const answer = await shop.call(createGuide, { body: { name: 'X', tables, ...change } })
      expect(answer.status).toBe(400)
      return answer.body.error.message
    }
    const short = [
      tables[0],
      {
        columns: ['A', 'B', 'C'],
        rows: [
          ['1', '2', '3'],
          ['1', '2'],
        ],
      },
    ]
    expect(await refused({ tables: short })).toContain('tables.1.rows.1: must have 3 cells')
    expect(await refused({ unit: 'none', showUnitSwitch: true })).toContain('showUnitSwitch')
    expect(await refused({ tables: [] })).toContain('tables')
    const guide = await create(shop, { showUnitSwitch: true })
    expect((await shop.call(changeGuide, { body: { id: guide.id, unit: 'none' } })).status).toBe(400)
  })

  test('instructions are cleaned, and cleaning is idempotent', async () => {
    const shop = await store(app)
    const html = '<p onclick=x>Meça<script>a()</script><a href="javascript:x">aqui</a></p>'
    const guide = await create(shop, { instructionsHtml: html })
    expect(guide.instructionsHtml).toBe('<p>Meça<a>aqui</a></p>')
    expect((await shop.call(changeGuide, { body: guide })).body).toEqual(guide)
    const emptied = await shop.call(changeGuide, {
      body: { id: guide.id, instructionsHtml: '<script>a()</script>' },
    })
    expect(emptied.body.instructionsHtml).toBeNull()
    const long = { id: guide.id, instructionsHtml: `<p>${'a'.repeat(10_000)}</p>` }
    expect((await shop.call(changeGuide, { body: long })).status).toBe(400)
  })

  test('a store has at most 200 guides', async () => {
    const shop = await store(app)
    const guide = await create(shop)
    expect((await shop.call(changeGuide, { body: { id: newId(1), name: 'X' } })).status).toBe(404)
    await copyRow(app, 'size_guides', guide.id, { count: 199, json: ['content'] })
    expect((await shop.call(createGuide, { body: { name: 'X', tables } })).status).toBe(409)
    expect((await shop.call(deleteGuide, { params: { id: guide.id } })).status).toBe(204)
  })
})

describe('the guide of a product', () => {
  test('the choice is by name before category before all; then the latest change', async () => {
    const shop = await connectedStore(app)
    await setRows(shop, 'product_snapshots', { category_ids: ['301', '302'] }, { product_id: '1001' })
    const shown = async (productId: string) =>
      (await shop.call(listGuides, { query: { productId } })).body.data.map(
        (each: { name: string }) => each.name,
      )
    const first = await create(shop, { name: 'All' })
    await app.advance(1000)
    await create(shop, { name: 'All, later', excludedProductIds: ['1002'] })
    expect(await shown('1001')).toEqual(['All, later'])
    expect(await shown('1002')).toEqual(['All'])
    await app.advance(1000)
    await shop.call(changeGuide, { body: { id: first.id, linkText: 'Medidas' } })
    expect(await shown('1001')).toEqual(['All'])
    const { id } = await create(shop, { name: 'One', scope: 'products', productIds: ['1001'] })
    expect(await shown('1001')).toEqual(['One'])
    await shop.call(changeGuide, { body: { id, isActive: false } })
    expect(await shown('1001')).toEqual(['All'])
    expect(await shown('sandbox-missing')).toEqual([])
  })

  test('shoppers get the guide on the product’s page, in both units if the switch is on', async () => {
    const shop = await connectedStore(app)
    await create(shop, { showUnitSwitch: true })
    const at = async (query: string) => (await visit(shop, `/widgets?page=${query}`)).body.sizeGuide
    expect(await at('home')).toBeUndefined()
    const guide = await at('product&productId=1001')
    expect(guide).toMatchObject({
      unit: 'cm',
      switched: { unit: 'in', tables: [{ columns: ['Tamanho', 'Busto'] }] },
    })
    expect(guide.switched.tables[0].rows).toEqual([
      ['P', '33.1-34.6'],
      ['M', '34.6-36.2'],
    ])
    expect(guide).not.toHaveProperty('updatedAt')
  })
})
