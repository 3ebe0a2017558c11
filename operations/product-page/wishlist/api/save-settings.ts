import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { wishlist, wishlistSettings, wishlistSettingsInput } from '../settings.ts'

export default operation({
  method: 'POST',
  path: '/wishlist/settings',
  description:
    'Change how the storefront presents wishlists and asks for a contact; shoppers see it at once.',
  details: 'What is left out keeps its value.',
  words: 'turn the heart button on, favourites, ask for an email',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'wishlist',
  input: { body: writeBody(wishlistSettingsInput, ['updatedAt']) },
  answer: { status: 200, body: wishlistSettings },
  etag: true,
  example: { body: { isEnabled: true, askContact: 'optional', contactFields: ['email', 'phone'] } },
  handler: (ctx, { body }) => wishlist.save(ctx, body),
})
