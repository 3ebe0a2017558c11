/** Content blocks as the storefront gets them. */
import { sql } from 'kysely'
import type { Widget, WidgetQuery } from '#operations/storefront/door'
import { nextTurn, phaseOf, shownProducts } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { inWords, type Words } from '#runtime/values/wording'
import { takes } from '../target-sql.ts'
import { beforeAfterWords } from './designs.ts'
import type { BlockContent } from './rows.ts'

interface Row {
  id: string
  type: string
  /** Null of one that has not begun. */
  design: object | null
  content: BlockContent
  starts_at: Date | null
  ends_at: Date | null
}

/** Those switched on that have not ended, of one product or of all. */
const candidates = (ofProduct: boolean) =>
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
    return rows.where(takes('b', productId, sql`(${categories})`))
  })
const ofProduct = candidates(true)
const ofAll = candidates(false)

/** Blocks stand on product pages alone; without a product, each says which it is for. */
export async function contentBlocksWidget(
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
  const running = rows.filter((row) => phaseOf(row, now) === 'running')
  const compared = running.flatMap(({ design }) => columnsOf(design))
  const products = await shownProducts(
    ctx,
    compared.flatMap((column) => column.productId ?? []),
  )
  const items = running
    .map((row) => ({ ...row, design: withProducts(worded(ctx, row), products) }))
    .map(({ id, type, design, content: { placement, device, ...targeting } }) => ({
      ...{ id, type, placement, device, design },
      ...(productId === null ? targeting : {}),
    }))
  const until = nextTurn(rows, now)
  if (items.length === 0) return until ? { value: null, until } : null
  return { value: { items }, until }
}

const worded = (ctx: Context, { type, design }: Pick<Row, 'type' | 'design'>): object | null =>
  type === 'before-after'
    ? inWords(design, beforeAfterWords as Words<object | null>, ctx.store.locale)
    : design

interface Column {
  productId: string | null
}

const columnsOf = (design: object | null): readonly Column[] =>
  design && 'columns' in design && Array.isArray(design.columns) ? design.columns : []

/** A column of a comparison leads to its product while shoppers can see that. */
function withProducts(design: object | null, products: Awaited<ReturnType<typeof shownProducts>>) {
  const columns = columnsOf(design)
  if (columns.every(({ productId }) => productId === null)) return design
  return {
    ...design,
    columns: columns.map((column) => ({ ...column, product: products.get(column.productId ?? '') ?? null })),
  }
}
