import { unsubscribes } from '#operations/capture/lib/door'
import { sending, templates } from '#operations/messaging/lib/door'
import { attribution, events, exports, home, onboarding } from '#operations/store/lib/door'
import { registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { turnOn } from './lib/alert-settings.ts'
import { applyConversions } from './lib/conversions.ts'
import { stockChanged } from './lib/reconcile.ts'
import { stockRequests, templateUse } from './lib/registrations.ts'
import { applyStatuses } from './lib/statuses.ts'
import { unsubscribed } from './lib/subscribe.ts'
import { subscriptionsExport } from './lib/subscriptions-export.ts'
import { alertsWidget, counterWidget } from './lib/widgets.ts'

export default wiring(() => {
  events.on('ecommerce', 'stock.updated', stockChanged)
  sending.onStatus('st', applyStatuses)
  attribution.onConversionChanged('stock-notification', applyConversions)
  templates.registerUse(templateUse)
  unsubscribes.on('stock', unsubscribed)
  onboarding.onActivate('stock-alerts', turnOn)
  home.registerStockRequests(stockRequests)
  exports.register('stock-export', subscriptionsExport)
  registerWidget('stockAlerts', { feature: 'stock-alerts', build: alertsWidget })
  registerWidget('stockCounter', { feature: 'stock-alerts', build: counterWidget })
})
