/** Declares the ecommerce port and opens its adapters. */
import type { PortSpec } from '#runtime/ports/spec'
import type { EcommercePort } from './port.ts'
import { sandboxEcommerce } from './sandbox.ts'

declare module '#runtime/ports/ports' {
  interface SectionPorts {
    ecommerce: EcommercePort
  }
}

export const ecommercePort: PortSpec<EcommercePort> = {
  account: 'store',
  local: ['discountCapabilities', 'activationLink'],
  async open({ settings, database, clock }): Promise<Record<string, EcommercePort>> {
    const sandbox = sandboxEcommerce({ db: database.root, clock })
    if (settings.ecommerceUrl === 'sandbox') return { sandbox }
    const { readShopifyUrl } = await import('./shopify/http/options.ts')
    const { ShopifyEcommerce } = await import('./shopify/shopify.ts')
    return { sandbox, shopify: new ShopifyEcommerce({ ...readShopifyUrl(settings.ecommerceUrl), clock }) }
  },
}
