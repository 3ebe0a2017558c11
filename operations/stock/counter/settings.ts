/** Settings of the stock counter. */
import { changed } from '#operations/storefront/door'
import { settings } from '#runtime/database/settings'
import { refuse } from '#runtime/errors'
import { merged } from '#runtime/values/changes'
import {
  type CounterChange,
  type CounterContent,
  counterWords,
  defaultCounter,
  stockCounterSettings,
} from './schema.ts'

/** Products and categories that are new are looked for in the mirror, then at the platform. */
export const stockCounter = settings({
  name: 'stock:counter',
  table: 'stock_counter_settings',
  isDated: false,
  defaults: defaultCounter,
  words: counterWords,
  schema: stockCounterSettings,
  names: { kinds: ['product', 'category'] },
  merge: (_ctx, before, change: CounterChange) => {
    const after = merged(before, change)
    return { ...after, lastUnitText: after.lastUnitText || null }
  },
  check: (_ctx, after) => refuseEmptyScope(after),
  saved: changed,
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
