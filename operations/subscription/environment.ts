import { z } from '#runtime/schema'
import { environment, faultsOfReading, optionalText, type SettingsOf } from '#runtime/server/environment'
import { couponsFile } from './provider/coupons-file.ts'
import { readMercadoPagoUrl } from './provider/mercado-pago-url.ts'

const declared = environment(
  {
    BILLING_URL: z
      .string()
      .regex(/^(mercadopago:\/\/.+|sandbox)$/, 'must begin with mercadopago://')
      .default('sandbox'),
    /** A file with the coupons of a provider that keeps none. */
    BILLING_COUPONS: optionalText,
  },
  ({ billingUrl: url = 'sandbox', billingCoupons = null }) => {
    if (url === 'sandbox') return []
    return [
      ...faultsOfReading('BILLING_URL', () => readMercadoPagoUrl(url)),
      ...faultsOfReading('BILLING_COUPONS', () => couponsFile(billingCoupons)),
    ]
  },
)
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfSubscription {}
}
type SettingsOfSubscription = SettingsOf<typeof declared.variables>
