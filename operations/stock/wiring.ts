import { unsubscribes } from '#operations/capture/door'
import { sending, templates } from '#operations/messaging/door'
import { attribution, events, exports, home, onboarding } from '#operations/store/door'
import { registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { alertsWidget, counterWidget } from './counter/widgets.ts'
import { stockRequests, templateUse } from './registrations.ts'
import { stockChanged } from './sending/reconcile.ts'
import { applyStatuses } from './sending/statuses.ts'
import { turnOn } from './settings/settings.ts'
import { applyConversions } from './subscriptions/conversions.ts'
import { subscriptionsExport } from './subscriptions/export.ts'
import { unsubscribed } from './subscriptions/subscribe.ts'

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
