import { z } from '#runtime/schema'
import { environment, findReadIssues, type SettingsOf } from '#runtime/server/environment'
import { readShopifyUrl } from './ecommerce/shopify/http/options.ts'
import { readTiendanubeUrl } from './ecommerce/tiendanube/http/options.ts'
import { splitProviderUrls } from './ecommerce/urls/provider-urls.ts'

const shopify = String.raw`shopify:\/\/([^/@:]+:[^/@:]+@)?[a-z0-9.-]+(:\d+)?\/?`
const tiendanube = String.raw`tiendanube:\/\/([^/@:]+:[^/@:]+@)?(?:tiendanube\.com|nuvemshop\.com\.br)\/?\?[^\s,]+`

const declared = environment(
  {
    ECOMMERCE_URL: z
      .string()
      .regex(
        new RegExp(`^(?:sandbox|(?:${shopify}|${tiendanube})(?:,(?:${shopify}|${tiendanube}))?)$`),
        'must be shopify://myshopify.com, or shopify://CLIENT_ID:CLIENT_SECRET@myshopify.com, or tiendanube://APP_ID:CLIENT_SECRET@tiendanube.com?contact=…&script=…, or both with a comma',
      )
      .default('sandbox'),
  },
  ({ ecommerceUrl: url = 'sandbox' }) => (url === 'sandbox' ? [] : findUrlIssues(url)),
)
export default declared

const findUrlIssues = (text: string): string[] =>
  findReadIssues('ECOMMERCE_URL', () => {
    const urls = splitProviderUrls(text)
    if (urls.has('shopify')) readShopifyUrl(urls.get('shopify')!)
    if (urls.has('tiendanube')) readTiendanubeUrl(urls.get('tiendanube')!)
  })

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfStore {}
}
type SettingsOfStore = SettingsOf<typeof declared.variables>
