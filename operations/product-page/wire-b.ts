/** What looks, size guides and wishlists register at start. */
import { exports, onboarding } from '#operations/store/door'
import { registerEvents, registerWidget, snapshots } from '#operations/storefront/door'
import { countLookEvents, existingLooks } from './looks/counters.ts'
import { checkAllLooks, checkLooksWith } from './looks/health.ts'
import { looksWidget } from './looks/widget.ts'
import { registerSizeGuideImages } from './size-guides/uploads.ts'
import { sizeGuideWidget } from './size-guides/widget.ts'
import { wishlistExport } from './wishlist/export.ts'
import { turnWishlistOn, wishlistWidget } from './wishlist/settings.ts'
import { takeWishes } from './wishlist/wishes.ts'

export function wireLooksSizesWishlist(): void {
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
}
