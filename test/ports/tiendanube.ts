/** A Tiendanube adapter with its stand-in, filled for the contract. */
import type { TiendanubeOptions } from '#operations/store/ecommerce/tiendanube/http/options'
import { TiendanubeEcommerce } from '#operations/store/ecommerce/tiendanube/tiendanube'
import type { MovableClock } from '#runtime/clock'
import { frozenClock } from '#test/support/test-clock'
import { aShop } from './ecommerce.contract.ts'
import { app, scriptId, TiendanubeStandIn } from './tiendanube-stand-in.ts'

export async function tiendanube({
  bucket,
  clock = frozenClock(),
  ...options
}: { bucket?: [number, number]; clock?: MovableClock } & Partial<TiendanubeOptions> = {}) {
  const standIn = await new TiendanubeStandIn({ ...(bucket ? { bucket } : {}), clock }).listen()
  for (const category of aShop.categories) standIn.shop.addCategory(category)
  for (const product of aShop.products) standIn.shop.addProduct(product)
  for (const customer of aShop.customers) {
    // Tiendanube stores phones in E.164.
    const phone = 'phone' in customer && customer.phone ? '+5511988887777' : null
    standIn.shop.addCustomer({ ...customer, phone })
  }
  const port = new TiendanubeEcommerce({
    domain: 'tiendanube.com',
    contact: 'ops@example.com',
    scriptId,
    endpoint: (host) => `${standIn.endpoint}/${host}`,
    clock,
    db: undefined as never,
    cartUrl: (storeId) => `https://api.example.com/hooks/ecommerce/tiendanube/${storeId}/cart/key`,
    retryDelayMs: 1,
    ...options,
  })
  const { shop, accessToken } = standIn
  const credentials = { storeId: String(shop.id), accessToken, clientSecret: app.clientSecret }
  return { standIn, shop, port, store: { id: 'store', credentials } }
}
