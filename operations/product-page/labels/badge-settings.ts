/** How badges are shown, and the price of paying by another method (rule 1). */
import { platformId, readSettings, saveSettings, variableLine } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { reference, requireReferences } from '#runtime/references'
import { colour, decimals, instant, line, money, named, object, writeBody, z } from '#runtime/schema'
import { given } from '#runtime/values/changes'

const featuredPriceFields = {
  isEnabled: z.boolean(),
  discountPercentage: z
    .number()
    .gt(0)
    .max(90)
    .refine(...decimals(4)),
  text: variableLine(1, 120, ['price', 'method', 'discountPercentage']),
  method: line(1, 40),
  minAmount: money.refine((value) => value >= 0, 'must be at least 0'),
  applyToSalePrice: z.boolean().describe('False: products on sale show none'),
  showInProductPage: z.boolean(),
  showInProductList: z.boolean(),
  excludedProductIds: z
    .array(reference('product', platformId))
    .max(250)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name an id twice'),
  textColor: colour,
  fontSize: z.number().int().min(10).max(40),
}
const featuredPrice = object(featuredPriceFields)
const fields = {
  isEnabled: z.boolean(),
  maxPerProduct: z.number().int().min(1).max(10).describe('Lowest priority first, then oldest'),
}

export const badgeSettings = named(
  'BadgeSettings',
  object({ ...fields, featuredPrice, updatedAt: instant.nullable().describe('Null: never saved') }),
)
export const badgeSettingsInput = writeBody({ ...fields, featuredPrice: featuredPrice.partial().strict() }, [
  'updatedAt',
])

export interface BadgeSettings {
  isEnabled: boolean
  maxPerProduct: number
  featuredPrice: z.infer<typeof featuredPrice>
}

export const badgeSettingsKey = 'badges'
export const defaultBadgeSettings: BadgeSettings = {
  isEnabled: true,
  maxPerProduct: 3,
  featuredPrice: {
    isEnabled: false,
    discountPercentage: 10,
    text: '{{price}} with {{method}}',
    method: 'bank transfer',
    minAmount: 0,
    applyToSalePrice: true,
    showInProductPage: true,
    showInProductList: false,
    excludedProductIds: [],
    textColor: '#15803d',
    fontSize: 16,
  },
}

export const readBadgeSettings = (ctx: Context): Promise<BadgeSettings & { updatedAt: string | null }> =>
  readSettings(ctx, badgeSettingsKey, defaultBadgeSettings)

/** Not inside a transaction: the platform is asked for products that are left out anew. */
export async function saveBadgeSettings(
  ctx: Context,
  change: z.infer<typeof badgeSettingsInput>,
): Promise<BadgeSettings & { updatedAt: string | null }> {
  const before = await readBadgeSettings(ctx)
  await requireReferences(ctx, badgeSettingsInput, { before, after: change, kinds: ['product'], live: true })
  return ctx.transaction((tx) =>
    saveSettings(tx, badgeSettingsKey, defaultBadgeSettings, (before) => ({
      ...before,
      ...given({ isEnabled: change.isEnabled, maxPerProduct: change.maxPerProduct }),
      featuredPrice: { ...before.featuredPrice, ...given(change.featuredPrice ?? {}) },
    })),
  )
}
