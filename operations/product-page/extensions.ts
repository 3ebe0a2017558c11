import { countedRows, type ElementSpec } from '#operations/storefront/index'
import { extensions } from '#runtime/extensions'
import { buildContentBlocksWidget } from './content-blocks/widget.ts'
import {
  buildBadgeCards,
  buildBadgesWidget,
  buildStickerCards,
  buildStickersWidget,
} from './labels/widgets.ts'
import { checkAllLooks, checkLooksWith } from './looks/health.ts'
import { buildLooksWidget } from './looks/widget.ts'
import { sizeGuideImages, sizeGuideUploads } from './size-guides/uploads.ts'
import { buildSizeGuideWidget } from './size-guides/widget.ts'
import { uploads } from './uploads.ts'
import { countedSliders } from './video-slider/counters.ts'
import { buildVideoSliderWidget } from './video-slider/widget.ts'
import { visitorErasure } from './wishlist/erasure.ts'
import { turnWishlistOn } from './wishlist/settings.ts'
import { buildWishlistCards, buildWishlistWidget } from './wishlist/widget.ts'
import { applyWishEvents } from './wishlist/wishes.ts'

/** Builds the entry of an element. Without `pages`, only a theme can place it. */
const element = (
  concept: string,
  tag: string,
  widget: string,
  pages?: ElementSpec['pages'],
): ElementSpec => ({
  ...{ tag, widget },
  module: new URL(`${concept}/elements/${tag}.js`, import.meta.url),
  ...(pages ? { pages } : {}),
})

export default extensions({
  personErasure: [visitorErasure],
  uploads: { ...uploads, [sizeGuideImages]: sizeGuideUploads },
  widgets: {
    contentBlocks: { feature: 'product-content', build: buildContentBlocksWidget },
    stickers: { feature: 'product-content', build: buildStickersWidget, cards: buildStickerCards },
    badges: { feature: 'product-content', build: buildBadgesWidget, cards: buildBadgeCards },
    videoSlider: { feature: 'product-media', build: buildVideoSliderWidget },
    looks: { feature: 'shop-the-look', build: buildLooksWidget },
    sizeGuide: { feature: 'size-guides', build: buildSizeGuideWidget },
    wishlist: { feature: 'wishlist', build: buildWishlistWidget, cards: buildWishlistCards },
  },
  elements: [
    element('content-blocks', 'store-content-blocks', 'contentBlocks', ['product']),
    element('labels', 'store-stickers', 'stickers', '*'),
    element('labels', 'store-badges', 'badges', '*'),
    element('labels', 'store-featured-price', 'badges', '*'),
    element('video-slider', 'store-video-slider', 'videoSlider', ['home', 'product']),
    element('size-guides', 'store-size-guide', 'sizeGuide', ['product']),
    element('looks', 'store-looks', 'looks', ['home', 'product']),
    element('wishlist', 'store-wishlist-button', 'wishlist', ['home', 'category', 'product', 'cart']),
    element('wishlist', 'store-wishlist', 'wishlist'),
    element('wishlist', 'store-wishlist-count', 'wishlist'),
  ],
  events: {
    'content-block': {
      feature: 'product-content',
      types: ['impression', 'click'],
      ...countedRows('content_blocks', ['impressions', 'clicks']),
    },
    'video-slider': {
      feature: 'product-media',
      types: ['impression', 'click'],
      ...countedSliders,
    },
    look: {
      feature: 'shop-the-look',
      types: ['impression', 'click', 'cart-add'],
      ...countedRows('looks', ['impressions', 'clicks', 'cart_adds']),
    },
    wishlist: {
      feature: 'wishlist',
      types: ['impression', 'click', 'cart-add', 'wishlist-add', 'wishlist-remove', 'wishlist-contact'],
      apply: applyWishEvents,
    },
  },
  featureActivators: { wishlist: { activate: turnWishlistOn } },
  productsChanged: [checkLooksWith],
  catalogRead: [checkAllLooks],
})
