/** Cart gifts: what is their own of a discount. */
import { snapshots, unitCents } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { given } from '#runtime/values/changes'
import { discountKind } from '../discounts/resource.ts'
import { giftJson } from './json.ts'
import { gifts } from './kind.ts'
import { type GiftChange, type GiftContent, giftDefaults } from './schema.ts'

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

export const {
  read: readGift,
  list: listGifts,
  create: createGift,
  change: changeGift,
  setActive: setGiftActive,
  remove: deleteGift,
} = discountKind<GiftContent, GiftChange>(gifts, {
  json: giftJson,
  order: [
    ['d.min_amount', 'asc'],
    ['d.id', 'desc'],
  ],
  defaults: giftDefaults,
  /** A product that is new is read fresh. */
  async merged(ctx, base, { gift, ...fields }, before) {
    const content: GiftContent = {
      ...base,
      ...given(fields),
      gift: gift ? await chosen(ctx, before?.content.gift ?? null, gift) : base.gift,
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
    return content
  },
  async requireActivable(ctx, { gift: { productId, variantId } }) {
    const product = (await snapshots.readLive(ctx, [productId])).get(productId)
    if (unitCents(product, variantId) === null) {
      throw refuse('conflict', `Its gift ${productId} does not exist any more: choose another first`)
    }
  },
})
