import { wiring } from '#runtime/wiring'
import { alertCards, alertsWidget, counterCards, counterWidget } from './counter/widgets.ts'
import { forgetsSubscriptions } from './forgetting/forget.ts'
import { stockRequests, templateUse } from './registrations.ts'
import { alerts } from './sending/lane.ts'
import { stockChanged } from './sending/reconcile.ts'
import { turnOn } from './settings/settings.ts'
import { applyConversions } from './subscriptions/conversions.ts'
import { unsubscribed } from './subscriptions/subscribe.ts'

export default wiring({
  personForgotten: [forgetsSubscriptions],
  providerEvents: { 'ecommerce:stock.updated': [stockChanged] },
  senders: { st: alerts },
  conversionsChanged: { 'stock-notification': [applyConversions] },
  templateUses: [templateUse],
  unsubscribes: { stock: unsubscribed },
  switches: { 'stock-alerts': { activate: turnOn } },
  stockRequests,
  widgets: {
    stockAlerts: { feature: 'stock-alerts', build: alertsWidget, cards: alertCards },
    stockCounter: { feature: 'stock-alerts', build: counterWidget, cards: counterCards },
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
