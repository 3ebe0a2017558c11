import { z } from '#runtime/schema'
import { environment, findReadIssues, optionalText, type SettingsOf } from '#runtime/server/environment'
import { readCouponsFile } from './provider/coupons-file.ts'
import { readMercadoPagoUrl } from './provider/mercado-pago-url.ts'

const declared = environment(
  {
    BILLING_URL: z
      .string()
      .regex(/^(mercadopago:\/\/.+|sandbox)$/, 'must begin with mercadopago://')
      .default('sandbox'),
    /** Path of a JSON file of coupons, for a provider without its own coupons. */
    BILLING_COUPONS: optionalText,
  },
  ({ billingUrl: url = 'sandbox', billingCoupons = null }) => {
    if (url === 'sandbox') return []
    return [
      ...findReadIssues('BILLING_URL', () => readMercadoPagoUrl(url)),
      ...findReadIssues('BILLING_COUPONS', () => readCouponsFile(billingCoupons)),
    ]
  },
)
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfSubscription {}
}
type SettingsOfSubscription = SettingsOf<typeof declared.variables>
