import { countedRows } from '#operations/storefront/index'
import { extensions } from '#runtime/extensions'
import { notifyUnavailable } from './bundles/availability.ts'
import type { KindName } from './discounts/draft.ts'
import { discountsSync } from './handles.ts'
import {
  buildBundlesWidget,
  buildCartGiftsWidget,
  buildInstallmentCards,
  buildInstallmentsWidget,
  buildPromotionCards,
  buildPromotionsWidget,
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

export default extensions({
  widgets: {
    promotions: { feature: 'promotions', build: buildPromotionsWidget, cards: buildPromotionCards },
    bundles: { feature: 'bundles', build: buildBundlesWidget },
    cartGifts: { feature: 'cart-gifts', build: buildCartGiftsWidget },
    installments: { feature: 'installments', build: buildInstallmentsWidget, cards: buildInstallmentCards },
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
  productsChanged: [notifyUnavailable],
  platformConnected: [(ctx) => ctx.queue(discountsSync, {})],
  entitlementChanged: [(ctx) => ctx.queue(discountsSync, {})],
})
