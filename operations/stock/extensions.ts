import { extensions } from '#runtime/extensions'
import {
  buildAlertCards,
  buildAlertsWidget,
  buildCounterCards,
  buildCounterWidget,
} from './counter/widgets.ts'
import { subscriptionErasure } from './erasure/erasure.ts'
import { stockRequests, templateUse } from './registrations.ts'
import { alerts } from './sending/outbox-source.ts'
import { handleStockEvents } from './sending/reconcile.ts'
import { enableAlerts } from './settings/settings.ts'
import { applyConversions } from './subscriptions/conversions.ts'
import { unsubscribe } from './subscriptions/subscribe.ts'

export default extensions({
  personErasure: [subscriptionErasure],
  providerEvents: { 'ecommerce:stock.updated': [handleStockEvents] },
  senders: { st: alerts },
  conversionsChanged: { 'stock-notification': [applyConversions] },
  templateUses: [templateUse],
  unsubscribes: { stock: unsubscribe },
  featureActivators: { 'stock-alerts': { activate: enableAlerts } },
  stockRequests,
  widgets: {
    stockAlerts: { feature: 'stock-alerts', build: buildAlertsWidget, cards: buildAlertCards },
    stockCounter: { feature: 'stock-alerts', build: buildCounterWidget, cards: buildCounterCards },
  },
  elements: [
    {
      tag: 'store-stock-alert',
      widget: 'stockAlerts',
      module: new URL('subscriptions/elements/store-stock-alert.js', import.meta.url),
      pages: '*',
    },
    {
      tag: 'store-stock-counter',
      widget: 'stockCounter',
      module: new URL('counter/elements/store-stock-counter.js', import.meta.url),
      pages: '*',
    },
  ],
})
