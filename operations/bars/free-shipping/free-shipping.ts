/** The free-shipping banner, which shows the cart's progress towards free shipping: its settings and its widget. */
import type { Widget } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { barSettings } from '../bar-settings.ts'
import { defaultFreeShipping, freeShippingBar, freeShippingWords } from './schema.ts'

/** Settings of the banner. Refuses an enabled banner without a threshold, and new products that do not exist. */
export const freeShippingSettings = barSettings('free-shipping', {
  defaults: defaultFreeShipping,
  words: freeShippingWords,
  schema: freeShippingBar,
  references: { kinds: ['product'] },
  check(_ctx, { isEnabled, threshold }) {
    if (isEnabled && threshold === null) {
      throw refuse('bad_request', 'threshold: is needed while the bar is on')
    }
  },
  answerFields: (ctx) => ({ currency: ctx.store.currency }),
})

/** Builds the widget. The storefront script formats the amounts, because they depend on the cart. */
export async function buildFreeShippingWidget(ctx: Context): Promise<Widget | null> {
  const { isEnabled, ...shown } = await freeShippingSettings.getForShoppers(ctx)
  if (!isEnabled) return null
  return { value: { ...shown, currency: ctx.store.currency, locale: ctx.store.locale } }
}
