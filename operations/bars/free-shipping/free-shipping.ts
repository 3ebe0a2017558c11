/** The bar that shows how far the cart is from free shipping. */
import type { Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { readBar, writeBar } from '../bar-settings.ts'
import { defaultFreeShipping, type freeShippingBar, freeShippingInput } from './schema.ts'

export async function readFreeShipping(ctx: Context): Promise<z.infer<typeof freeShippingBar>> {
  const { content, updatedAt } = await readBar(ctx, 'free-shipping', defaultFreeShipping)
  return { ...content, currency: ctx.store.currency, updatedAt: updatedAt?.toISOString() ?? null }
}

/** Not inside a transaction. Refuses a bar that is on without a threshold, and products that there are none of. */
export async function saveFreeShipping(
  ctx: Context,
  change: z.infer<typeof freeShippingInput>,
): Promise<void> {
  const { content } = await readBar(ctx, 'free-shipping', defaultFreeShipping)
  await requireReferences(ctx, freeShippingInput, { before: content, after: change, kinds: ['product'] })
  await writeBar(ctx, 'free-shipping', defaultFreeShipping, (before) => {
    const after = merged(before, change)
    if (after.isEnabled && after.threshold === null) {
      throw refuse('bad_request', 'threshold: is needed while the bar is on')
    }
    return after
  })
}

/** The storefront writes amounts in the store's currency and language as the cart changes. */
export async function freeShippingWidget(ctx: Context): Promise<Widget | null> {
  const { content } = await readBar(ctx, 'free-shipping', defaultFreeShipping)
  const { isEnabled, ...shown } = content
  if (!isEnabled) return null
  return { value: { ...shown, currency: ctx.store.currency, locale: ctx.store.locale } }
}
