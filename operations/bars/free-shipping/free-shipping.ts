/** The bar that shows how far the cart is from free shipping. */
import type { Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { barSettings } from '../bar-settings.ts'
import { defaultFreeShipping, freeShippingBar, freeShippingWords } from './schema.ts'

/** One that is on without a threshold is refused, and new products that there are none of. */
export const freeShippingSettings = barSettings('free-shipping', {
  defaults: defaultFreeShipping,
  words: freeShippingWords,
  schema: freeShippingBar,
  names: { kinds: ['product'] },
  check(_ctx, { isEnabled, threshold }) {
    if (isEnabled && threshold === null) {
      throw refuse('bad_request', 'threshold: is needed while the bar is on')
    }
  },
  shown: (ctx) => ({ currency: ctx.store.currency }),
})

/** The storefront writes amounts in the store's currency and language as the cart changes. */
export async function freeShippingWidget(ctx: Context): Promise<Widget | null> {
  const { isEnabled, ...shown } = await freeShippingSettings.forShoppers(ctx)
  if (!isEnabled) return null
  return { value: { ...shown, currency: ctx.store.currency, locale: ctx.store.locale } }
}
