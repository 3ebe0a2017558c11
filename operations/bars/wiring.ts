import { registerEvents, registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { actionWidget } from './actions/actions.ts'
import { alertsWidget, countedAlerts } from './alerts/alerts.ts'
import { countdownWidget } from './countdown/countdown.ts'
import { freeShippingWidget } from './free-shipping/free-shipping.ts'

export default wiring(() => {
  registerWidget('freeShippingBar', { feature: 'storefront-bars', build: freeShippingWidget })
  registerWidget('countdownBar', { feature: 'storefront-bars', build: countdownWidget })
  registerWidget('actionBar', { feature: 'storefront-bars', build: actionWidget })
  registerWidget('fomoAlerts', { feature: 'fomo-alerts', build: alertsWidget })
  registerEvents('fomo-alert', {
    feature: 'fomo-alerts',
    types: ['impression', 'click'],
    existing: countedAlerts,
  })
})
