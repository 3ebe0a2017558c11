import { wiring } from '#runtime/wiring'
import { actionWidget } from './actions/actions.ts'
import { alertsWidget, countedAlerts } from './alerts/alerts.ts'
import { countdownWidget } from './countdown/countdown.ts'
import { freeShippingWidget } from './free-shipping/free-shipping.ts'

export default wiring({
  widgets: {
    freeShippingBar: { feature: 'storefront-bars', build: freeShippingWidget },
    countdownBar: { feature: 'storefront-bars', build: countdownWidget },
    actionBar: { feature: 'storefront-bars', build: actionWidget },
    fomoAlerts: { feature: 'fomo-alerts', build: alertsWidget },
  },
  loader: [
    {
      module: new URL('loader.js', import.meta.url),
      position: 2,
      begins: 'showBars(widgets, page)',
      turn: 1,
    },
    {
      module: new URL('alerts/loader.js', import.meta.url),
      position: 3,
      begins: 'if (widgets.fomoAlerts) await showAlerts(widgets.fomoAlerts, { page, productId })',
      turn: 4,
    },
  ],
  events: {
    'fomo-alert': { feature: 'fomo-alerts', types: ['impression', 'click'], existing: countedAlerts },
  },
})
