import { extensions } from '#runtime/extensions'
import { buildActionWidget } from './actions/actions.ts'
import { buildAlertsWidget, filterEnabledTypes } from './alerts/alerts.ts'
import { buildCountdownWidget } from './countdown/countdown.ts'
import { buildFreeShippingWidget } from './free-shipping/free-shipping.ts'

const bar = (tag: string, widget: string) => ({
  tag,
  widget,
  module: new URL(`elements/${tag}.js`, import.meta.url),
  pages: '*' as const,
  floats: true as const,
})

export default extensions({
  widgets: {
    freeShippingBar: { feature: 'storefront-bars', build: buildFreeShippingWidget },
    countdownBar: { feature: 'storefront-bars', build: buildCountdownWidget },
    actionBar: { feature: 'storefront-bars', build: buildActionWidget },
    fomoAlerts: { feature: 'fomo-alerts', build: buildAlertsWidget },
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
    'fomo-alert': { feature: 'fomo-alerts', types: ['impression', 'click'], existing: filterEnabledTypes },
  },
})
