/** Cart gifts: the rules and operations in which they differ from other kinds of discounts. */
import { getUnitCents, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { omitUndefined } from '#runtime/values/changes'
import { buildKindOperations } from '../discounts/resource.ts'
import { giftJson } from './json.ts'
import { gifts } from './kind.ts'
import { type GiftChange, type GiftContent, giftDefaults } from './schema.ts'

/**
 * Resolves product and variant of the gift. If a change names a new product without a variant, the old variant is
 * cleared.
 */
async function resolveGift(
  ctx: Context,
  before: GiftContent['gift'] | null,
  change: NonNullable<GiftChange['gift']>,
): Promise<GiftContent['gift']> {
  const productId = change.productId ?? before!.productId
  const isSameProduct = productId === before?.productId
  const quantity = change.quantity ?? before?.quantity ?? 1
  const previousVariant = isSameProduct ? before.variantId : null
  const requestedVariant = change.variantId === undefined ? previousVariant : change.variantId
  if (isSameProduct && requestedVariant === before.variantId)
    return { productId, variantId: requestedVariant, quantity }
  const product = (await snapshots.readLive(ctx, [productId])).get(productId)
  if (!product?.exists) {
    throw refuse('bad_request', `gift.productId: your platform has no product ${productId}`)
  }
  const variantId =
    requestedVariant ?? (product.variants.length === 1 ? product.variants[0]!.variantId : null)
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
} = buildKindOperations<GiftContent, GiftChange>(gifts, {
  json: giftJson,
  order: [
    ['d.min_amount', 'asc'],
    ['d.id', 'desc'],
  ],
  defaults: giftDefaults,
  /** Reads a new product live from the platform. */
  async mergeContent(ctx, base, { gift, ...fields }, before) {
    const content: GiftContent = {
      ...base,
      ...omitUndefined(fields),
      gift: gift ? await resolveGift(ctx, before?.content.gift ?? null, gift) : base.gift,
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
  async requireActivatable(ctx, { gift: { productId, variantId } }) {
    const product = (await snapshots.readLive(ctx, [productId])).get(productId)
    if (getUnitCents(product, variantId) === null) {
      throw refuse('conflict', `Its gift ${productId} does not exist any more: choose another first`)
    }
  },
})
