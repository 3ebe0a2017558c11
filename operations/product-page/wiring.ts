import { countedRows, type ElementSpec } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { contentBlocksWidget } from './content-blocks/widget.ts'
import { badgeCards, badgesWidget, stickerCards, stickersWidget } from './labels/widgets.ts'
import { checkAllLooks, checkLooksWith } from './looks/health.ts'
import { looksWidget } from './looks/widget.ts'
import { sizeGuideImages, sizeGuideUploads } from './size-guides/uploads.ts'
import { sizeGuideWidget } from './size-guides/widget.ts'
import { uploads } from './uploads.ts'
import { countedSliders } from './video-slider/counters.ts'
import { videoSliderWidget } from './video-slider/widget.ts'
import { forgetsVisitors } from './wishlist/forget.ts'
import { turnWishlistOn } from './wishlist/settings.ts'
import { wishlistCards, wishlistWidget } from './wishlist/widget.ts'
import { takeWishes } from './wishlist/wishes.ts'

/** Without `pages` a theme places it. */
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

export default wiring({
  personForgotten: [forgetsVisitors],
  uploads: { ...uploads, [sizeGuideImages]: sizeGuideUploads },
  widgets: {
    contentBlocks: { feature: 'product-content', build: contentBlocksWidget },
    stickers: { feature: 'product-content', build: stickersWidget, cards: stickerCards },
    badges: { feature: 'product-content', build: badgesWidget, cards: badgeCards },
    videoSlider: { feature: 'product-media', build: videoSliderWidget },
    looks: { feature: 'shop-the-look', build: looksWidget },
    sizeGuide: { feature: 'size-guides', build: sizeGuideWidget },
    wishlist: { feature: 'wishlist', build: wishlistWidget, cards: wishlistCards },
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
      apply: takeWishes,
    },
  },
  switches: { wishlist: { activate: turnWishlistOn } },
  productsChanged: [checkLooksWith],
  catalogRead: [checkAllLooks],
})
