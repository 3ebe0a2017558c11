/** Cart gifts: read, made and changed. */
import { sql } from 'kysely'
import { always, mergedSchedule, snapshots, unitCents } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { given } from '#runtime/values/changes'
import { requireActivable } from '../discounts/activation.ts'
import type { Draft } from '../discounts/draft.ts'
import type { DiscountFilters } from '../discounts/json.ts'
import { type Saved, statusIn } from '../discounts/rows.ts'
import { changeDiscount, createDiscount, noSuch } from '../discounts/writes.ts'
import { giftJson } from './json.ts'
import { gifts } from './kind.ts'
import { type GiftChange, type GiftContent, giftDefaults } from './schema.ts'

const byId = prepared(
  (db, values: { id: string; now: Date }) =>
    db
      .selectFrom('discounts as d')
      .select(sql<string>`${giftJson(db, values.now)}::text`.as('text'))
      .where('d.id', '=', values.id)
      .where('d.kind', '=', 'gift'),
  { planOnce: true },
)

export async function readGift(ctx: Context, id: string): Promise<JsonText> {
  const [row] = await byId(ctx, { id, now: ctx.now() })
  if (!row) throw noSuch(gifts)
  return new JsonText(row.text)
}

export const listGifts = preparedList<Omit<DiscountFilters, 'search'>>((db, values, has) => {
  let rows = db.selectFrom('discounts as d').where('d.kind', '=', 'gift')
  if (has('status')) rows = rows.where(statusIn(values.now), '=', sql<never>`${values.status}`)
  return {
    rows,
    item: giftJson(db, values.now),
    page: 'd',
    order: [
      ['d.min_amount', 'asc'],
      ['d.id', 'desc'],
    ],
  }
})

/** Answers its id. Not inside a transaction. */
export async function createGift(
  ctx: Context,
  input: GiftChange & Pick<Required<GiftChange>, 'name' | 'minAmount' | 'gift'>,
): Promise<string> {
  const draft = await merged(ctx, null, input)
  return createDiscount(ctx, gifts, { ...draft, isActive: input.isActive ?? true })
}

/** Whether it is active stays as it is. Not inside a transaction. */
export async function changeGift(ctx: Context, id: string, change: GiftChange): Promise<void> {
  await changeDiscount(ctx, gifts, id, (before) => merged(ctx, before, change))
}

/** Not inside a transaction. Refuses to activate what ended or is used up, and a gift that is gone. */
export async function setGiftActive(ctx: Context, id: string, isActive: boolean): Promise<void> {
  await changeDiscount(ctx, gifts, id, async (before) => {
    const { name, startsAt, endsAt, content } = before
    if (isActive && !before.isActive) {
      requireActivable(ctx, gifts.noun, before)
      const { productId, variantId } = content.gift
      const product = (await snapshots.readLive(ctx, [productId])).get(productId)
      if (unitCents(product, variantId) === null) {
        throw refuse('conflict', `Its gift ${productId} does not exist any more: choose another first`)
      }
    }
    return { name, startsAt, endsAt, content, isActive }
  })
}

/** What is left out stays, or is the default; a product that is new is read fresh. */
async function merged(
  ctx: Context,
  before: Saved<GiftContent> | null,
  change: GiftChange,
): Promise<Draft<GiftContent>> {
  const { name, isActive: _set, startsAt, endsAt, combinesWith, gift, ...fields } = change
  const base = before?.content ?? (giftDefaults as unknown as GiftContent)
  const content: GiftContent = {
    ...base,
    ...given(fields),
    gift: gift ? await chosen(ctx, before?.content.gift ?? null, gift) : base.gift,
    combinesWith: { ...base.combinesWith, ...given(combinesWith ?? {}) },
  }
  const { usageLimit } = content
  if (
    usageLimit !== null &&
    usageLimit !== before?.content.usageLimit &&
    usageLimit < (before?.usageCount ?? 0)
  ) {
    throw refuse(
      'bad_request',
      `usageLimit: must not be below ${before!.usageCount}, the orders that used it`,
    )
  }
  return {
    name: name ?? before!.name,
    isActive: before?.isActive ?? true,
    ...mergedSchedule(ctx.now(), before ?? always, { startsAt, endsAt }),
    content,
  }
}

/** Another product without a variant clears the old one's. */
async function chosen(
  ctx: Context,
  before: GiftContent['gift'] | null,
  change: NonNullable<GiftChange['gift']>,
): Promise<GiftContent['gift']> {
  const productId = change.productId ?? before!.productId
  const isSameProduct = productId === before?.productId
  const quantity = change.quantity ?? before?.quantity ?? 1
  const kept = isSameProduct ? before.variantId : null
  const wanted = change.variantId === undefined ? kept : change.variantId
  if (isSameProduct && wanted === before.variantId) return { productId, variantId: wanted, quantity }
  const product = (await snapshots.readLive(ctx, [productId])).get(productId)
  if (!product?.exists) {
    throw refuse('bad_request', `gift.productId: your platform has no product ${productId}`)
  }
  const variantId = wanted ?? (product.variants.length === 1 ? product.variants[0]!.variantId : null)
  if (variantId === null) {
    throw refuse(
      'bad_request',
      `gift.variantId: is required, since product ${productId} has several variants`,
    )
  }
  if (!product.variants.some((variant) => variant.variantId === variantId)) {
    throw refuse('bad_request', `gift.variantId: product ${productId} has no variant ${variantId}`)
  }
  return { productId, variantId, quantity }
}
