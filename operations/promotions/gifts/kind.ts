import { inCurrency } from '#runtime/values/money'
import { buildReference, type Kind } from '../discounts/kinds.ts'
import { cartGift, type GiftContent } from './schema.ts'

export const gifts: Kind<GiftContent> = {
  name: 'gift',
  noun: 'cart gift',
  feature: 'cart-gifts',
  path: '/cart-gifts',
  portKind: 'gift',
  liveAtMost: 20,
  atMost: 200,
  spec(id, revision, { name, startsAt, endsAt, content }, currency) {
    return {
      kind: 'gift',
      reference: buildReference('gift', id),
      revision,
      title: name,
      startsAt,
      endsAt,
      combinesWith: content.combinesWith,
      minAmount: inCurrency(currency).formatAmount(content.minAmount),
      amountBasis: content.amountBasis,
      productId: content.gift.productId,
      variantId: content.gift.variantId,
      quantity: content.gift.quantity,
      addAutomatically: content.addAutomatically,
      usageLimit: content.usageLimit,
      usageLimitPerCustomer: content.usageLimitPerCustomer,
    }
  },
  schema: cartGift,
}
