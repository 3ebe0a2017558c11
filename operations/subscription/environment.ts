import { z } from '#runtime/schema'
import { environment, optionalText, type SettingsOf } from '#runtime/server/environment'

const declared = environment({
  BILLING_URL: z
    .string()
    .regex(/^(mercadopago:\/\/.+|sandbox)$/, 'must begin with mercadopago://')
    .default('sandbox'),
  /** A file with the coupons of a provider that keeps none. */
  BILLING_COUPONS: optionalText,
})
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfSubscription {}
}
type SettingsOfSubscription = SettingsOf<typeof declared.variables>
