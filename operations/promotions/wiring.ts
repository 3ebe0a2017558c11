import { connections, onEntitlementChanged } from '#operations/store/door'
import { registerEvents, registerWidget, snapshots } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { noticeUnavailable } from './bundles/availability.ts'
import { countDiscountEvents, existingOf } from './discounts/counters.ts'
import type { KindName } from './discounts/draft.ts'
import { allKinds } from './platform/all-kinds.ts'
import { bundlesWidget, cartGiftsWidget, installmentsWidget, promotionsWidget } from './platform/widgets.ts'

const eventsOf: Record<KindName, 'promotion' | 'bundle' | 'cart-gift'> = {
  promotion: 'promotion',
  bundle: 'bundle',
  gift: 'cart-gift',
}

export default wiring(() => {
  registerWidget('promotions', { feature: 'promotions', build: promotionsWidget })
  registerWidget('bundles', { feature: 'bundles', build: bundlesWidget })
  registerWidget('cartGifts', { feature: 'cart-gifts', build: cartGiftsWidget })
  registerWidget('installments', { feature: 'installments', build: installmentsWidget })
  for (const { name, feature } of allKinds) {
    registerEvents(eventsOf[name], {
      feature,
      types: ['impression', 'click', 'cart-add'],
      existing: existingOf(name),
      count: countDiscountEvents,
    })
  }
  snapshots.onChanged(noticeUnavailable)
  connections.onConnected((ctx) => ctx.queue('discounts-sync', {}))
  onEntitlementChanged((ctx) => ctx.queue('discounts-sync', {}))
})
