/** Settings of the stock counter. */
import { markStorefrontChanged } from '#operations/storefront/index'
import { settings } from '#runtime/database/settings'
import { refuse } from '#runtime/errors'
import { mergeChange } from '#runtime/values/changes'
import {
  type CounterChange,
  type CounterContent,
  counterWords,
  defaultCounter,
  stockCounterSettings,
} from './schema.ts'

/**
 * The settings. A save checks that newly chosen products and categories exist: in the catalog cache, then on the
 * platform.
 */
export const stockCounter = settings({
  name: 'stock:counter',
  table: 'stock_counter_settings',
  isDated: false,
  defaults: defaultCounter,
  words: counterWords,
  schema: stockCounterSettings,
  references: { kinds: ['product', 'category'] },
  merge: (_ctx, before, change: CounterChange) => {
    const after = mergeChange(before, change)
    return { ...after, lastUnitText: after.lastUnitText || null }
  },
  check: (_ctx, after) => refuseEmptyScope(after),
  onSaved: markStorefrontChanged,
})

function refuseEmptyScope({ isEnabled, scope, productIds, categoryIds }: CounterContent): void {
  if (!isEnabled) return
  if (scope === 'products' && productIds.length === 0) {
    throw refuse('bad_request', 'productIds: name at least one product, or choose the scope all')
  }
  if (scope === 'categories' && categoryIds.length === 0) {
    throw refuse('bad_request', 'categoryIds: name at least one category, or choose the scope all')
  }
}
