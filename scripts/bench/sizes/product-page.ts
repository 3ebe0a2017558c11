/** Content blocks on the storefront: a store with 500 of them, of which a third is for every product, or all are. */

import { everyProduct } from '#operations/storefront/door'
import { findVisited } from '#operations/storefront/visits/visited'
import { publish } from '#operations/storefront/widgets/published'
import { SystemContext } from '#runtime/context'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { blocksOf, designOf } from '../../seed/product-page-blocks.ts'
import { insertRows, type SeedRow } from '../../seed/rows.ts'
import { area, type Measure, type World } from '../area.ts'

interface Shop {
  name: string
  storeId: string
  publicId: string
  key: string
}
type Filled = Shop[]

const atMostMs = 20
const products = 1000
const builds = 20
const daysBack = 60

export default area<Filled>({
  name: 'product-page',
  description:
    'What the storefront shows of 500 content blocks, read from a copy and built anew, and their statistics',
  rows: 500,

  async prepare(world, rows) {
    const shops = [
      await fill(world, 'a third for each product', rows, (at) => at % 3),
      await fill(world, 'all for each product', rows, () => 0),
    ]
    const system = new SystemContext(world.services, world.services.log, 'bench')
    for (const { name, publicId } of shops) {
      const visited = (await findVisited(system, publicId))!
      let next = 0
      const build = async (times: number): Promise<void> => {
        for (let i = 0; i < times; i += 1) {
          next += 1
          await publish(visited.ctx, visited, { page: 'product', productId: `p${next}`, cards: [] })
        }
      }
      await build(builds)
      await world.timed(`${name}: built anew, ${builds} times`, builds * atMostMs, () => build(builds))
    }
    return shops
  },

  measures: (shops) => shops.flatMap(measuresOf),
})

function measuresOf({ name, storeId, publicId, key }: Shop): Measure[] {
  const read = (what: string, path: string, most: number | null, text: string): Measure => ({
    name: `${name}: ${what}`,
    path,
    key,
    atMostMs: most,
    bare: { text, values: [storeId] },
  })
  const blocks = 'select * from content_blocks where store_id = $1'
  return [
    read('storefront', `/storefront/${publicId}/widgets?page=product&productId=p1`, atMostMs, blocks),
    read('list', '/v1/product-content-blocks?limit=100', null, `${blocks} order by priority limit 100`),
    read(
      'statistics of 30 days',
      '/v1/product-content-blocks/stats',
      null,
      `select * from widget_daily where store_id = $1 and widget = 'content-block' and day > current_date - 30`,
    ),
  ]
}

/** `scopeOf`: 0 every product, 1 some products, 2 a category. */
async function fill(
  { database }: World,
  name: string,
  rows: number,
  scopeOf: (at: number) => number,
): Promise<Shop> {
  const slug = `bench-${name.replaceAll(' ', '-')}`
  const owner = `owner@${slug}.example.com`
  const place = { country: 'BR', currency: 'BRL', timezone: 'America/Sao_Paulo' }
  const now = new Date()
  const made = await createStore(database, now, { slug, name, owner, plan: 'scale', ...place })
  const { key } = await createKey(database, now, {
    storeId: made.id,
    member: owner,
    scopes: [...allScopes],
  })
  await insertRows(database.root, 'product_snapshots', made.id, snapshots(now))
  const blocks = blockRows(rows, scopeOf, now)
  await insertRows(database.root, 'content_blocks', made.id, blocks)
  await insertRows(database.root, 'widget_daily', made.id, dailyRows(blocks, now))
  return { name, storeId: made.id, publicId: made.publicId, key }
}

const snapshots = (now: Date): SeedRow<'product_snapshots'>[] =>
  Array.from({ length: products }, (_none, at) => ({
    product_id: `p${at}`,
    name: `Product ${at}`,
    handle: `p${at}`,
    url: `https://shop.example.com/p${at}`,
    image_url: null,
    brand: null,
    tags: [],
    category_ids: [`c${at % 20}`, 'root'],
    price: '100.00',
    compare_at_price: null,
    currency: 'BRL',
    stock: 5,
    is_published: true,
    exists: true,
    platform_created_at: now,
    platform_updated_at: now,
    digest: 'x',
    checked_at: now,
  }))

const blocks = blocksOf((name) => `https://cdn.example.com/${name}.png`)

type BlockRow = SeedRow<'content_blocks'> & { id: string }

const blockRows = (rows: number, scopeOf: (at: number) => number, now: Date): BlockRow[] =>
  Array.from({ length: rows }, (_none, at) => {
    const { name, type, design } = blocks[at % blocks.length]!
    const scopes = [
      {},
      {
        scope: 'products',
        productIds: Array.from({ length: 50 }, (_each, n) => `p${(at * 7 + n * 13) % products}`),
      },
      { scope: 'categories', categoryIds: [`c${at % 20}`] },
    ]
    return {
      id: crypto.randomUUID(),
      name: `${name} ${at}`,
      type,
      design: designOf(type, design),
      content: { ...everyProduct, ...scopes[scopeOf(at)], placement: 'below-description', device: 'all' },
      starts_at: null,
      ends_at: null,
      is_active: true,
      priority: at + 1,
      impressions: 0,
      clicks: 0,
      created_at: now,
      updated_at: now,
    }
  })

const dailyRows = (blocks: readonly BlockRow[], now: Date): SeedRow<'widget_daily'>[] =>
  blocks.flatMap(({ id }) =>
    Array.from({ length: daysBack }, (_none, at) => ({
      widget: 'content-block',
      resource_id: id,
      day: new Date(now.getTime() - at * 86_400_000).toISOString().slice(0, 10),
      ...{ impressions: 90, clicks: 5, closes: 0, cart_adds: 0, visitors: 70 },
    })),
  )
