/** The address to which a platform sends carts. It has a key, because a platform may not sign its requests. */
import { hasValidSignature, sign } from '#runtime/secrets'
import type { Settings } from '#runtime/server/settings'

const purpose = 'ecommerce-cart'

export const buildCartUrl = (settings: Settings, provider: string, storeId: string): string =>
  `${settings.publicUrl}/hooks/ecommerce/${provider}/${storeId}/cart/${sign(settings, purpose, storeId)}`

export const isCartKey = (settings: Settings, storeId: string, key: string): boolean =>
  hasValidSignature(settings, purpose, storeId, key)
