import { exports, onboarding } from '#operations/store/door'
import { registerEvents, registerWidget, snapshots } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { contentBlocksWidget } from './content-blocks/widget.ts'
import { badgesWidget, stickersWidget } from './labels/widgets.ts'
import { countLookEvents, existingLooks } from './looks/counters.ts'
import { checkAllLooks, checkLooksWith } from './looks/health.ts'
import { looksWidget } from './looks/widget.ts'
import { registerSizeGuideImages } from './size-guides/uploads.ts'
import { sizeGuideWidget } from './size-guides/widget.ts'
import { registerUploads } from './uploads.ts'
import {
  countBlockEvents,
  countSliderEvents,
  existingBlocks,
  existingSliders,
} from './video-slider/counters.ts'
import { videoSliderWidget } from './video-slider/widget.ts'
import { wishlistExport } from './wishlist/export.ts'
import { turnWishlistOn, wishlistWidget } from './wishlist/settings.ts'
import { takeWishes } from './wishlist/wishes.ts'

export default wiring(() => {
  registerUploads()
  registerWidget('contentBlocks', { feature: 'product-content', build: contentBlocksWidget })
  registerWidget('stickers', { feature: 'product-content', build: stickersWidget })
  registerWidget('badges', { feature: 'product-content', build: badgesWidget })
  registerWidget('videoSlider', { feature: 'product-media', build: videoSliderWidget })
  registerEvents('content-block', {
    feature: 'product-content',
    types: ['impression', 'click'],
    existing: existingBlocks,
    count: countBlockEvents,
  })
  registerEvents('video-slider', {
    feature: 'product-media',
    types: ['impression', 'click'],
    existing: existingSliders,
    count: countSliderEvents,
  })
  registerSizeGuideImages()
  exports.register('wishlist-export', wishlistExport)
  onboarding.onActivate('wishlist', turnWishlistOn)
  registerWidget('looks', { feature: 'shop-the-look', build: looksWidget })
  registerWidget('sizeGuide', { feature: 'size-guides', build: sizeGuideWidget })
  registerWidget('wishlist', { feature: 'wishlist', build: wishlistWidget })
  registerEvents('look', {
    feature: 'shop-the-look',
    types: ['impression', 'click', 'cart-add'],
    existing: existingLooks,
    count: countLookEvents,
  })
  registerEvents('wishlist', {
    feature: 'wishlist',
    types: ['impression', 'click', 'cart-add', 'wishlist-add', 'wishlist-remove', 'wishlist-contact'],
    apply: takeWishes,
  })
  snapshots.onChanged(checkLooksWith)
  snapshots.onReadWhole(checkAllLooks)
})
