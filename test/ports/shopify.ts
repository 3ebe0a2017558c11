/** A Shopify adapter with its stand-in, filled for the contract. */

import type { ShopifyOptions } from '#operations/store/ecommerce/shopify/http/options'
import { ShopifyEcommerce } from '#operations/store/ecommerce/shopify/shopify'
import type { MovableClock } from '#runtime/clock'
import { frozenClock } from '#test/support/test-clock'
import { aShop } from './ecommerce.contract.ts'
import { type Options, ShopifyStandIn } from './shopify-stand-in.ts'

export async function shopify({
  rates,
  clock = frozenClock(),
  ...options
}: { rates?: Options; clock?: MovableClock } & Partial<ShopifyOptions> = {}) {
  const standIn = await new ShopifyStandIn({ ...rates, clock }).listen()
  for (const category of aShop.categories) standIn.shop.addCollection(category)
  for (const product of aShop.products) standIn.shop.addProduct(product)
  for (const customer of aShop.customers) {
    // Shopify stores phones in E.164.
    const phone = 'phone' in customer && customer.phone ? '+5511988887777' : null
    standIn.shop.addCustomer({ ...customer, phone })
  }
  const port = new ShopifyEcommerce({
    domain: 'myshopify.com',
    endpoint: () => standIn.endpoint,
    clock,
    retryDelayMs: 1,
    ...options,
  })
  const { name, accessToken, app } = standIn
  const credentials = { shop: name, accessToken, clientSecret: app.clientSecret }
  return { standIn, shop: standIn.shop, port, store: { id: 'store', credentials } }
}
