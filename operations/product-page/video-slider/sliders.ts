/** Video sliders on product pages, at most one per product. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { deleteCounts, markStorefrontChanged, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonFields, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { countRows } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { optimisticWrite } from '../optimistic-write.ts'
import { checkSlider, mergeSlider, retainSliderFiles } from './content.ts'
import { defaultSlider, type ProductSlider, type SliderChange } from './schema.ts'

type Db = Context['db']

const slidersAtMost = 500

const content = (...keys: (keyof ProductSlider)[]) => jsonFields('s.content', keys)

/** A slider `s` as JSON. */
const sliderJson = (db: Db) => {
  const product = db
    .selectFrom('product_snapshots as p')
    .where('p.product_id', '=', sql<string>`s.product_id`)
  const isOut = db
    .selectFrom('product_snapshot_variants as v')
    .where('v.product_id', '=', sql<string>`s.product_id`)
    .select(sql`bool_and(v.stock is not distinct from 0)`.as('out'))
  const status = product.select(
    sql<string>`case when not p.exists then 'missing' when not p.is_published then 'unpublished'
      when (${isOut}) then 'out-of-stock' else 'available' end`.as('status'),
  )
  return jsonObject({
    id: 's.id',
    productId: 's.product_id',
    productName: sql`(${product.select('p.name')})`,
    productStatus: sql`coalesce((${status}), 'missing')`,
    ...content('title', 'layout', 'autoplay', 'muted', 'loop', 'showControls', 'videos'),
    isActive: 's.is_active',
    ...content('placement'),
    impressions: 's.impressions',
    clicks: 's.clicks',
    createdAt: isoInstant('s.created_at'),
    updatedAt: isoInstant('s.updated_at'),
  })
}

const ofProduct = prepared((db, values: { productId: string }) =>
  db
    .selectFrom('video_sliders as s')
    .select(sql<string>`${sliderJson(db)}::text`.as('text'))
    .where('s.product_id', '=', values.productId),
)

/** The list of sliders, newest first. */
export const listSliders = preparedList<{ productId?: string | undefined }>((db, values, has) => {
  let rows = db.selectFrom('video_sliders as s')
  if (has('productId')) rows = rows.where('s.product_id', '=', sql<string>`${values.productId}`)
  return { rows, item: sliderJson(db), page: 's', order: [['s.id', 'desc']] }
})

interface Saved {
  id: string
  content: ProductSlider
  isActive: boolean
}

async function find(ctx: Context, productId: string): Promise<Saved | null> {
  const row = await ctx.db
    .selectFrom('video_sliders')
    .select(['id', 'content', 'is_active as isActive'])
    .where('product_id', '=', productId)
    .executeTakeFirst()
  return row ? { ...row, content: row.content as ProductSlider } : null
}

/**
 * Creates or changes the slider of a product; two concurrent calls create only one. An unchanged slider is not written.
 * Refuses a new slider without videos, and the 501st slider. Checks new products and files at the platform and the
 * storage, so not inside a transaction.
 */
export async function saveSlider(ctx: Context, productId: string, change: SliderChange): Promise<JsonText> {
  await optimisticWrite(ctx, {
    read: (at) => find(at, productId),
    async prepare(before) {
      if (!before && !change.videos) throw refuse('bad_request', 'videos: is required for a new slider')
      const after = mergeSlider(before?.content ?? defaultSlider, change)
      if (!before) await snapshots.requireProducts(ctx, [productId], 'productId', { live: true })
      await checkSlider(ctx, before?.content ?? null, after)
      return { content: after, isActive: change.isActive ?? before?.isActive ?? true }
    },
    async write(tx, before, after) {
      if (before && isDeepStrictEqual(before, { id: before.id, ...after })) return
      const now = tx.now()
      const columns = {
        content: JSON.stringify(after.content),
        is_active: after.isActive,
        updated_at: now,
      }
      const id = before?.id ?? tx.newId()
      if (before) await tx.db.updateTable('video_sliders').set(columns).where('id', '=', id).execute()
      else {
        const full = `There are ${slidersAtMost} sliders, and there cannot be more: delete one first`
        if ((await countRows(tx.db.selectFrom('video_sliders'))) >= slidersAtMost) {
          throw refuse('conflict', full)
        }
        await tx.db
          .insertInto('video_sliders')
          .values({ id, product_id: productId, created_at: now, ...columns })
          .execute()
      }
      await retainSliderFiles(tx, id, before?.content ?? null, after.content)
      await markStorefrontChanged(tx)
    },
  })
  return readSlider(ctx, productId)
}

export async function readSlider(ctx: Context, productId: string): Promise<JsonText> {
  const [row] = await ofProduct(ctx, { productId })
  if (!row) throw noSlider()
  return new JsonText(row.text)
}

const noSlider = () => refuse('not_found', 'The product has no video slider')

/** Deletes a slider and its daily counters, even if its product no longer exists. Runs in the caller's transaction. */
export async function deleteSlider(ctx: Context, productId: string): Promise<void> {
  await ctx.lockStore()
  const deleted = await ctx.db
    .deleteFrom('video_sliders')
    .where('product_id', '=', productId)
    .returning('id')
    .executeTakeFirst()
  if (!deleted) throw noSlider()
  await retainSliderFiles(ctx, deleted.id, null, null)
  await deleteCounts(ctx, 'video-slider', deleted.id)
  await markStorefrontChanged(ctx)
}
