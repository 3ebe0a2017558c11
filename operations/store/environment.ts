import { z } from '#runtime/schema'
import { environment, type SettingsOf } from '#runtime/server/environment'

const declared = environment({
  ECOMMERCE_URL: z
    .string()
    .regex(
      /^(shopify:\/\/([^/@:]+:[^/@:]+@)?[a-z0-9.-]+(:\d+)?\/?|sandbox)$/,
      'must be shopify://myshopify.com, or shopify://CLIENT_ID:CLIENT_SECRET@myshopify.com',
    )
    .default('sandbox'),
})
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfStore {}
}
type SettingsOfStore = SettingsOf<typeof declared.variables>
