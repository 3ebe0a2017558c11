import { countedRows } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { noticeUnavailable } from './bundles/availability.ts'
import type { KindName } from './discounts/draft.ts'
import { discountsSync } from './handles.ts'
import {
  bundlesWidget,
  cartGiftsWidget,
  installmentCards,
  installmentsWidget,
  promotionCards,
  promotionsWidget,
} from './platform/widgets.ts'

const counted = (name: KindName, feature: string) => ({
  feature,
  types: ['impression', 'click', 'cart-add'] as const,
  ...countedRows('discounts', ['impressions', 'clicks', 'cart_adds'], { kind: name }),
})

const element = (
  concept: string,
  tag: string,
  widget: string,
  pages: readonly ('product' | 'cart')[] | '*',
) => ({
  ...{ tag, widget, pages },
  module: new URL(`${concept}/elements/${tag}.js`, import.meta.url),
})

export default wiring({
  widgets: {
    promotions: { feature: 'promotions', build: promotionsWidget, cards: promotionCards },
    bundles: { feature: 'bundles', build: bundlesWidget },
    cartGifts: { feature: 'cart-gifts', build: cartGiftsWidget },
    installments: { feature: 'installments', build: installmentsWidget, cards: installmentCards },
  },
  elements: [
    element('bundles', 'store-bundles', 'bundles', ['product']),
    element('gifts', 'store-cart-gifts', 'cartGifts', ['cart']),
    element('promotions', 'store-promotions', 'promotions', '*'),
    element('installments', 'store-installments', 'installments', '*'),
  ],
  events: {
    promotion: counted('promotion', 'promotions'),
    bundle: counted('bundle', 'bundles'),
    'cart-gift': counted('gift', 'cart-gifts'),
  },
  productsChanged: [noticeUnavailable],
  platformConnected: [(ctx) => ctx.queue(discountsSync, {})],
  entitlementChanged: [(ctx) => ctx.queue(discountsSync, {})],
})
