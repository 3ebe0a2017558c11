/** A store with 500 content blocks: the storefront's answer, cached and rebuilt. */
import { blockDesigns } from '#operations/product-page/content-blocks/designs'
import { everyProduct } from '#operations/storefront/index'
import { findVisitedStore } from '#operations/storefront/visits/visited-store'
import { publish } from '#operations/storefront/widgets/published'
import { SystemContext } from '#runtime/context'
import { type Area, timed } from '../area.ts'

const builds = 20
const scope = JSON.stringify(everyProduct)
const design = JSON.stringify(
  blockDesigns['rich-text'].parse({ title: 'Handmade', html: '<p>In our studio</p>' }),
)

const fill = [
  `insert into product_snapshots (store_id, product_id, name, handle, url, category_ids, price, currency, digest,
      is_published, platform_created_at, platform_updated_at, checked_at)
    select {store}, 'p' || n, 'Product ' || n, 'p' || n, 'https://shop.example.com/p' || n, array['c' || n % 20, 'root'],
      100, 'BRL', 'x', true, now(), now(), now() from generate_series(0, 999) n`,
  // A third for every product, a third for 50 products, a third for a category.
  `insert into content_blocks (store_id, id, name, type, design, content, is_active, priority, created_at, updated_at)
    select {store}, gen_random_uuid(), 'Block ' || n, 'rich-text', '${design}',
      '${scope}'::jsonb || '{"placement":"below-description","device":"all"}'::jsonb || case n % 3
        when 1 then jsonb_build_object('scope', 'products', 'productIds',
          (select jsonb_agg('p' || (n * 7 + k * 13) % 1000) from generate_series(0, 49) k))
        when 2 then jsonb_build_object('scope', 'categories', 'categoryIds', jsonb_build_array('c' || n % 20))
        else '{}'::jsonb end, true, n, now(), now()
    from generate_series(1, {rows}) n`,
]
const forEveryProduct = `update content_blocks set content = content || '${scope}' where store_id = {store}`

export default {
  rows: 500,
  fill,
  async prepare(world, shop) {
    const every = await world.open('bench-every')
    await world.fill(every, world.rows, [...fill, forEveryProduct])
    const system = new SystemContext(world.services, world.services.log, 'bench')
    for (const { ctx, publicId } of [shop, every]) {
      const visited = (await findVisitedStore(system, publicId))!
      let product = 0
      const build = async (): Promise<void> => {
        for (let i = 0; i < builds; i += 1) {
          product += 1
          await publish(visited.ctx, visited, { page: 'product', productId: `p${product}`, cards: [] })
        }
      }
      await build()
      world.report(`built ${builds} times, ${ctx.store.slug}`, 20 * builds, [await timed(build)])
    }
    return { third: shop.publicId, every: every.publicId }
  },
  checks: ({ third, every }) => [
    ['a third for each product: storefront', `/storefront/${third}/widgets?page=product&productId=p1`, 20],
    ['all for each product: storefront', `/storefront/${every}/widgets?page=product&productId=p1`, 20],
  ],
} satisfies Area
