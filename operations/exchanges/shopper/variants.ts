/** Variants available for exchange, from the catalog cache. */
import { isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { ExchangeContent } from '../settings/schema.ts'

export interface Variant {
  variantId: string
  productId: string
  /** Product name. */
  name: string
  variantName: string
  /** Decimal text. */
  unitPrice: string
  currency: string
  /** Null when the platform does not track the stock. */
  stock: number | null
  /** Published and in stock. */
  isAvailable: boolean
}

const selectVariants = (ctx: Context) =>
  ctx.db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', 'p.product_id', 'v.product_id')
    .select((eb) => [
      'v.variant_id as variantId',
      'v.product_id as productId',
      'p.name',
      'v.name as variantName',
      'v.price as unitPrice',
      'p.currency',
      'v.stock',
      eb
        .and([
          eb('p.is_published', '=', true),
          eb('v.is_available', '=', true),
          eb('v.stock', 'is distinct from', 0),
        ])
        .$castTo<boolean>()
        .as('isAvailable'),
    ])
    .where('p.exists', '=', true)

/** Finds variants by id. */
export async function findVariants(
  ctx: Context,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, Variant>> {
  if (variantIds.length === 0) return new Map()
  const rows = await selectVariants(ctx).where(isAmong('v.variant_id', variantIds)).execute()
  return new Map(rows.map((row) => [row.variantId, row]))
}

/** Most variants shown as choices on a page. */
const shownAtMost = 300

/**
 * Lists the available variants in the order's currency, by name. They are of the items' own products, or of all products if
 * `exchangeScope` is `any-product`.
 */
export const listChoices = (
  ctx: Context,
  { currency }: { currency: string },
  { exchangeScope, types }: Pick<ExchangeContent, 'exchangeScope' | 'types'>,
  items: readonly { productId: string | null }[],
): Promise<Variant[]> => {
  if (!types.includes('exchange')) return Promise.resolve([])
  const productIds = items.flatMap(({ productId }) => productId ?? [])
  return selectVariants(ctx)
    .$if(exchangeScope === 'same-product', (rows) => rows.where(isAmong('v.product_id', productIds)))
    .where('p.currency', '=', currency)
    .where('p.is_published', '=', true)
    .where('v.is_available', '=', true)
    .where('v.stock', 'is distinct from', 0)
    .orderBy('p.name')
    .orderBy('v.product_id')
    .orderBy('v.position')
    .limit(shownAtMost)
    .execute()
}
