/** How the storefront shows wishlists, and whom it asks for a contact. */
import { widgetSettings } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { colour, instant, line, named, object, z } from '#runtime/schema'

export const wishlistSettingsInput = {
  isEnabled: z.boolean(),
  allowGuests: z.boolean().describe('Without an account of the shop'),
  askContact: z.enum(['never', 'optional', 'required']),
  contactFields: z
    .array(z.enum(['email', 'phone']))
    .min(1)
    .max(2)
    .refine((fields) => new Set(fields).size === fields.length, 'must not name a field twice'),
  showInProductPage: z.boolean(),
  showInProductList: z.boolean(),
  showCount: z.boolean(),
  icon: z.enum(['heart', 'star', 'bookmark']),
  position: z.enum(['image-corner', 'below-buy-button']),
  iconColor: colour,
  activeColor: colour,
  addText: line(1, 120),
  addedText: line(1, 120),
  pageTitle: line(1, 120),
  emptyText: line(1, 120),
  loginText: line(1, 120),
  contactText: line(1, 300),
  consentText: line(1, 300),
  shareEnabled: z.boolean(),
}
const content = object(wishlistSettingsInput)
type Content = z.infer<typeof content>
export const wishlistSettings = named(
  'WishlistSettings',
  object({ ...wishlistSettingsInput, updatedAt: instant.nullable().describe('Null: never saved') }),
)

export const defaultWishlistSettings: Content = {
  isEnabled: false,
  allowGuests: true,
  askContact: 'optional',
  contactFields: ['email'],
  showInProductPage: true,
  showInProductList: true,
  showCount: false,
  icon: 'heart',
  position: 'image-corner',
  iconColor: '#6b7280',
  activeColor: '#dc2626',
  addText: 'Add to wishlist',
  addedText: 'In your wishlist',
  pageTitle: 'My wishlist',
  emptyText: 'Your wishlist is empty',
  loginText: 'Sign in to save products',
  contactText: 'Leave your contact and keep your list',
  consentText: 'I agree to receive news about my products',
  shareEnabled: true,
}

export const wishlist = widgetSettings('wishlist', {
  defaults: defaultWishlistSettings,
  schema: wishlistSettings,
})

/** In the caller's transaction. */
export const turnWishlistOn = (ctx: Context): Promise<void> =>
  wishlist.write(ctx, (before) => ({ ...before, isEnabled: true }))
