import { z } from '#runtime/schema'
import { environment, findReadIssues, type SettingsOf } from '#runtime/server/environment'
import { readShopifyUrl } from './ecommerce/shopify/http/options.ts'

const declared = environment(
  {
    ECOMMERCE_URL: z
      .string()
      .regex(
        /^(shopify:\/\/([^/@:]+:[^/@:]+@)?[a-z0-9.-]+(:\d+)?\/?|sandbox)$/,
        'must be shopify://myshopify.com, or shopify://CLIENT_ID:CLIENT_SECRET@myshopify.com',
      )
      .default('sandbox'),
  },
  ({ ecommerceUrl: url = 'sandbox' }) =>
    url === 'sandbox' ? [] : findReadIssues('ECOMMERCE_URL', () => readShopifyUrl(url)),
)
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfStore {}
}
type SettingsOfStore = SettingsOf<typeof declared.variables>
