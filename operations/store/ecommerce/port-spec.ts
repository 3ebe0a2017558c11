/** Declares the ecommerce port and opens its adapters. */
import type { PortSpec } from '#runtime/ports/spec'
import type { EcommercePort } from './port.ts'
import { sandboxEcommerce } from './sandbox.ts'
import { buildCartUrl } from './urls/cart-url.ts'
import { splitProviderUrls } from './urls/provider-urls.ts'

declare module '#runtime/ports/ports' {
  interface SectionPorts {
    ecommerce: EcommercePort
  }
}

export const ecommercePort: PortSpec<EcommercePort> = {
  account: 'store',
  local: ['discountCapabilities', 'activationLink', 'answerCart'],
  async open({ settings, database, clock }): Promise<Record<string, EcommercePort>> {
    const sandbox = sandboxEcommerce({ db: database.root, clock })
    if (settings.ecommerceUrl === 'sandbox') return { sandbox }
    const urls = splitProviderUrls(settings.ecommerceUrl)
    const adapters: Record<string, EcommercePort> = { sandbox }
    const shopifyUrl = urls.get('shopify')
    if (shopifyUrl !== undefined) {
      const { readShopifyUrl } = await import('./shopify/http/options.ts')
      const { ShopifyEcommerce } = await import('./shopify/shopify.ts')
      adapters.shopify = new ShopifyEcommerce({ ...readShopifyUrl(shopifyUrl), clock })
    }
    const tiendanubeUrl = urls.get('tiendanube')
    if (tiendanubeUrl !== undefined) {
      const { readTiendanubeUrl } = await import('./tiendanube/http/options.ts')
      const { TiendanubeEcommerce } = await import('./tiendanube/tiendanube.ts')
      adapters.tiendanube = new TiendanubeEcommerce({
        ...readTiendanubeUrl(tiendanubeUrl),
        clock,
        db: database.root,
        cartUrl: (storeId) => buildCartUrl(settings, 'tiendanube', storeId),
      })
    }
    return adapters
  },
}
