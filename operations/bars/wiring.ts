import { wiring } from '#runtime/wiring'
import { actionWidget } from './actions/actions.ts'
import { alertsWidget, countedAlerts } from './alerts/alerts.ts'
import { countdownWidget } from './countdown/countdown.ts'
import { freeShippingWidget } from './free-shipping/free-shipping.ts'

const bar = (tag: string, widget: string) => ({
  tag,
  widget,
  module: new URL(`elements/${tag}.js`, import.meta.url),
  pages: '*' as const,
  floats: true as const,
})

export default wiring({
  widgets: {
    freeShippingBar: { feature: 'storefront-bars', build: freeShippingWidget },
    countdownBar: { feature: 'storefront-bars', build: countdownWidget },
    actionBar: { feature: 'storefront-bars', build: actionWidget },
    fomoAlerts: { feature: 'fomo-alerts', build: alertsWidget },
  },
  elements: [
    bar('store-free-shipping-bar', 'freeShippingBar'),
    bar('store-countdown-bar', 'countdownBar'),
    bar('store-action-bar', 'actionBar'),
    {
      tag: 'store-alerts',
      widget: 'fomoAlerts',
      module: new URL('alerts/elements/store-alerts.js', import.meta.url),
      pages: '*',
      floats: true,
    },
  ],
  events: {
    'fomo-alert': { feature: 'fomo-alerts', types: ['impression', 'click'], existing: countedAlerts },
  },
})
