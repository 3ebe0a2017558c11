/** Bundles: read, made and changed. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { amounts } from '#operations/store/door'
import { always, emptyToNull, mergedSchedule, snapshots, unitCents } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { requireReferences } from '#runtime/references'
import { given } from '#runtime/values/changes'
import { requireActivable } from '../discounts/activation.ts'
import type { Draft } from '../discounts/draft.ts'
import type { DiscountFilters } from '../discounts/json.ts'
import { type Saved, statusIn } from '../discounts/rows.ts'
import { changeDiscount, createDiscount, noSuch } from '../discounts/writes.ts'
import { bundleJson } from './json.ts'
import { bundles } from './kind.ts'
import { type BundleChange, type BundleContent, bundle, bundleDefaults } from './schema.ts'

const byId = prepared(
  (db, values: { id: string; now: Date }) =>
    db
      .selectFrom('discounts as d')
      .select(sql<string>`${bundleJson(db, values.now)}::text`.as('text'))
      .where('d.id', '=', values.id)
      .where('d.kind', '=', 'bundle'),
  { planOnce: true },
)

export async function readBundle(ctx: Context, id: string): Promise<JsonText> {
  const [row] = await byId(ctx, { id, now: ctx.now() })
  if (!row) throw noSuch(bundles)
  return new JsonText(row.text)
}

export const listBundles = preparedList<DiscountFilters & { productId?: string | undefined }>(
  (db, values, has) => {
    let rows = db.selectFrom('discounts as d').where('d.kind', '=', 'bundle')
    if (has('status')) rows = rows.where(statusIn(values.now), '=', sql<never>`${values.status}`)
    if (has('search')) rows = rows.where(sql<boolean>`strpos(lower(d.name), lower(${values.search})) > 0`)
    if (has('productId')) {
      rows = rows.where(
        sql<boolean>`d.content -> 'items' @> jsonb_build_array(jsonb_build_object('productId', ${values.productId}::text))`,
      )
    }
    return { rows, item: bundleJson(db, values.now), page: 'd', order: [['d.id', 'desc']] }
  },
  { text: ['search'] },
)

/** Answers its id. Not inside a transaction. */
export async function createBundle(
  ctx: Context,
  input: BundleChange & Pick<Required<BundleChange>, 'name' | 'items' | 'discountType' | 'discountValue'>,
): Promise<string> {
  const draft = merged(ctx, null, input)
  await check(ctx, null, draft.content)
  return createDiscount(ctx, bundles, { ...draft, isActive: input.isActive ?? true })
}

/** Whether it is active stays as it is. Not inside a transaction. */
export async function changeBundle(ctx: Context, id: string, change: BundleChange): Promise<void> {
  await changeDiscount(ctx, bundles, id, async (before) => {
    const draft = merged(ctx, before, change)
    await check(ctx, before.content, draft.content)
    return draft
  })
}

/** Not inside a transaction. Refuses to activate what ended, lacks an item, or would cost more than its items. */
export async function setBundleActive(ctx: Context, id: string, isActive: boolean): Promise<void> {
  await changeDiscount(ctx, bundles, id, async (before) => {
    const { name, startsAt, endsAt, content } = before
    if (isActive && !before.isActive) {
      requireActivable(ctx, bundles.noun, before)
      const products = await readProducts(ctx, content)
      const gone = content.items.find(
        (item) => unitCents(products.get(item.productId), item.variantId) === null,
      )
      if (gone)
        throw refuse('conflict', `Its item ${namedItem(gone)} does not exist any more: replace it first`)
      if (!isBelow(content, regularCents(content, products)!)) {
        throw refuse('conflict', 'Its discountValue is no longer below regularPrice: lower it first')
      }
    }
    return { name, startsAt, endsAt, content, isActive }
  })
}

type Products = Awaited<ReturnType<typeof snapshots.readLive>>

const readProducts = (ctx: Context, { items }: BundleContent): Promise<Products> =>
  snapshots.readLive(
    ctx,
    items.map((item) => item.productId),
  )

const namedItem = ({ productId, variantId }: { productId: string; variantId: string | null }): string =>
  variantId === null ? productId : `${productId} (variant ${variantId})`

/** New items must exist; a new discount, or one of other items, must be below what they cost. */
async function check(ctx: Context, before: BundleContent | null, after: BundleContent): Promise<void> {
  await requireReferences(ctx, bundle, { before, after, kinds: ['file'] })
  const areItemsSame = isDeepStrictEqual(before?.items, after.items)
  const isDiscountSame =
    before?.discountType === after.discountType && before.discountValue === after.discountValue
  if (areItemsSame && (isDiscountSame || after.discountType === 'percentage')) return
  const products = await readProducts(ctx, after)
  for (const [at, item] of after.items.entries()) {
    const { productId, variantId } = item
    if (unitCents(products.get(productId), variantId) !== null) continue
    const isKnown = before?.items.some((each) => each.productId === productId && each.variantId === variantId)
    if (isKnown) continue
    throw products.get(productId)?.exists
      ? refuse('bad_request', `items.${at}.variantId: product ${productId} has no variant ${variantId}`)
      : refuse('bad_request', `items.${at}.productId: your platform has no product ${productId}`)
  }
  if (after.discountType === 'percentage') return
  const regular = regularCents(after, products)
  if (regular === null) {
    throw refuse('bad_request', 'items: an item does not exist any more: replace it to set this discount')
  }
  if (!isBelow(after, regular)) {
    const price = amounts.toMoney(regular)
    throw refuse('bad_request', `discountValue: must be below ${price}, what the items cost together`)
  }
}

/** What the items cost together; null where one is gone. */
function regularCents({ items }: BundleContent, products: Products): bigint | null {
  let sum = 0n
  for (const { productId, variantId, quantity } of items) {
    const unit = unitCents(products.get(productId), variantId)
    if (unit === null) return null
    sum += unit * BigInt(quantity)
  }
  return sum
}

const isBelow = ({ discountType, discountValue }: BundleContent, regular: bigint): boolean =>
  discountType === 'percentage' || amounts.toCents(discountValue) < regular

/** What is left out stays, or is the default; whole, it must hold together. */
function merged(
  ctx: Context,
  before: Saved<BundleContent> | null,
  change: BundleChange,
): Draft<BundleContent> {
  const { name, isActive: _set, startsAt, endsAt, combinesWith, items, ...fields } = change
  const base = before?.content ?? (bundleDefaults as unknown as BundleContent)
  const content: BundleContent = {
    ...base,
    ...given(fields),
    items: items
      ? items.map(({ productId, variantId = null, quantity = 1 }) => ({ productId, variantId, quantity }))
      : base.items,
    combinesWith: { ...base.combinesWith, ...given(combinesWith ?? {}) },
  }
  content.title = emptyToNull(content.title)
  content.description = emptyToNull(content.description)
  requireWhole(content)
  return {
    name: name ?? before!.name,
    isActive: before?.isActive ?? true,
    ...mergedSchedule(ctx.now(), before ?? always, { startsAt, endsAt }),
    content,
  }
}

function requireWhole({ items, discountType, discountValue }: BundleContent): void {
  if (discountType === 'percentage' && discountValue > 100) {
    throw refuse('bad_request', 'discountValue: must be at most 100, as a percentage')
  }
  if (items.reduce((sum, { quantity }) => sum + quantity, 0) < 2) {
    throw refuse('bad_request', 'items: must add up to at least 2 units')
  }
  const seen = new Set<string>()
  for (const [at, { productId, variantId }] of items.entries()) {
    const key = JSON.stringify([productId, variantId])
    if (seen.has(key)) {
      throw refuse('bad_request', `items.${at}: names the product and variant of another item`)
    }
    seen.add(key)
  }
}
