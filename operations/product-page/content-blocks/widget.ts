/** The content blocks widget. */
import { sql } from 'kysely'
import type { Widget, WidgetQuery } from '#operations/storefront/index'
import { findNextChange, findShownProducts, getPhase } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { translateBuiltIn, type Words } from '#runtime/values/wording'
import { targetsProduct } from '../target-sql.ts'
import { beforeAfterWords } from './designs.ts'
import type { BlockContent } from './rows.ts'

interface Row {
  id: string
  type: string
  /** Null if the block's schedule has not started yet. */
  design: object | null
  content: BlockContent
  starts_at: Date | null
  ends_at: Date | null
}

/** Selects the enabled blocks that have not ended: those that target one product, or all of them. */
const prepareCandidates = (ofProduct: boolean) =>
  prepared<{ now: Date; productId: string | null }, Row>((db, { now, productId }) => {
    const rows = db
      .selectFrom('content_blocks as b')
      .where('b.is_active', '=', true)
      .where(sql<boolean>`(b.ends_at is null or b.ends_at > ${now}::timestamptz)`)
      .select([
        'b.id',
        'b.type',
        sql<
          object | null
        >`case when b.starts_at is null or b.starts_at <= ${now}::timestamptz then b.design end`.as('design'),
        sql<BlockContent>`b.content`.as('content'),
        'b.starts_at',
        'b.ends_at',
      ])
      .orderBy('b.priority')
      .orderBy('b.id')
    if (!ofProduct) return rows
    const categories = db
      .selectFrom('product_snapshots as p')
      .where('p.product_id', '=', sql<string>`${productId}`)
      .select('p.category_ids')
    return rows.where(targetsProduct('b', productId, sql`(${categories})`))
  })
const ofProduct = prepareCandidates(true)
const ofAll = prepareCandidates(false)

/**
 * Builds the widget, only for product pages. If the product is unknown, the result contains the targeting of each
 * block.
 */
export async function buildContentBlocksWidget(
  ctx: Context,
  { page, productId }: WidgetQuery,
): Promise<Widget | null> {
  if (productId === null && page !== 'product') return null
  const now = ctx.now()
  const find = productId === null ? ofAll : ofProduct
  const rows = (await find(ctx, { now, productId })).map(({ starts_at, ends_at, ...row }) => ({
    ...row,
    startsAt: starts_at?.toISOString() ?? null,
    endsAt: ends_at?.toISOString() ?? null,
  }))
  const running = rows.filter((row) => getPhase(row, now) === 'running')
  const compared = running.flatMap(({ design }) => listColumns(design))
  const products = await findShownProducts(
    ctx,
    compared.flatMap((column) => column.productId ?? []),
  )
  const items = running
    .map((row) => ({ ...row, design: withProducts(translateDefaults(ctx, row), products) }))
    .map(({ id, type, design, content: { placement, device, ...targeting } }) => ({
      ...{ id, type, placement, device, design },
      ...(productId === null ? targeting : {}),
    }))
  const until = findNextChange(rows, now)
  if (items.length === 0) return until ? { value: null, until } : null
  return { value: { items }, until }
}

const translateDefaults = (ctx: Context, { type, design }: Pick<Row, 'type' | 'design'>): object | null =>
  type === 'before-after'
    ? translateBuiltIn(design, beforeAfterWords as Words<object | null>, ctx.store.locale)
    : design

interface Column {
  productId: string | null
}

const listColumns = (design: object | null): readonly Column[] =>
  design && 'columns' in design && Array.isArray(design.columns) ? design.columns : []

/** Adds the products to the columns of a comparison. A column links to its product only if shoppers can see the product. */
function withProducts(design: object | null, products: Awaited<ReturnType<typeof findShownProducts>>) {
  const columns = listColumns(design)
  if (columns.every(({ productId }) => productId === null)) return design
  return {
    ...design,
    columns: columns.map((column) => ({ ...column, product: products.get(column.productId ?? '') ?? null })),
  }
}
