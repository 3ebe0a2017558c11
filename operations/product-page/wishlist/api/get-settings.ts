import { operation } from '#runtime/operation'
import { wishlist, wishlistSettings } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/wishlist/settings',
  description: 'Show how the storefront presents wishlists; the defaults until somebody saves them.',
  words: 'heart button, favourites, how they are shown',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'wishlist',
  answer: { status: 200, body: wishlistSettings },
  etag: true,
  handler: (ctx) => wishlist.read(ctx),
})
