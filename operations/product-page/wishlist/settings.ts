/** Settings of wishlists on the storefront, and which shoppers are asked for a contact. */
import { widgetSettings } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { graphicColourOn } from '#runtime/contrast'
import { distinctList } from '#runtime/distinct-list'
import { instant, line, named, object, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'

export const wishlistSettingsInput = {
  isEnabled: z.boolean(),
  allowGuests: z.boolean().describe('Without an account of the shop'),
  askContact: z.enum(['never', 'optional', 'required']),
  contactFields: distinctList(
    z
      .array(z.enum(['email', 'phone']))
      .min(1)
      .max(2),
    'must not name a field twice',
  ),
  showInProductPage: z.boolean(),
  showInProductList: z.boolean(),
  showCount: z.boolean(),
  icon: z.enum(['heart', 'star', 'bookmark']),
  position: z.enum(['image-corner', 'below-buy-button']),
  iconColor: graphicColourOn('#ffffff'),
  activeColor: graphicColourOn('#ffffff'),
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

const words = {
  addText: {
    en: 'Add to wishlist',
    'pt-BR': 'Adicionar à lista de desejos',
    es: 'Agregar a la lista de deseos',
  },
  addedText: { en: 'In your wishlist', 'pt-BR': 'Na sua lista de desejos', es: 'En tu lista de deseos' },
  pageTitle: { en: 'My wishlist', 'pt-BR': 'Minha lista de desejos', es: 'Mi lista de deseos' },
  emptyText: {
    en: 'Your wishlist is empty',
    'pt-BR': 'Sua lista de desejos está vazia',
    es: 'Tu lista de deseos está vacía',
  },
  loginText: {
    en: 'Sign in to save products',
    'pt-BR': 'Entre na sua conta para salvar produtos',
    es: 'Inicia sesión para guardar productos',
  },
  contactText: {
    en: 'Leave your contact and keep your list',
    'pt-BR': 'Deixe seu contato e guarde sua lista',
    es: 'Deja tu contacto y guarda tu lista',
  },
  consentText: {
    en: 'I agree to receive news about my products',
    'pt-BR': 'Concordo em receber novidades sobre meus produtos',
    es: 'Acepto recibir novedades sobre mis productos',
  },
} satisfies Words<Content>

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
  ...getEnglishTexts(words),
  shareEnabled: true,
}

export const wishlist = widgetSettings('wishlist', {
  defaults: defaultWishlistSettings,
  words,
  schema: wishlistSettings,
})

/** Turns the wishlist on, in the caller's transaction. */
export const turnWishlistOn = (ctx: Context): Promise<void> =>
  wishlist.write(ctx, (before) => ({ ...before, isEnabled: true }))
