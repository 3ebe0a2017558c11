/** Converts Shopify's ids: plain numbers in our data, its addresses and webhooks; `gid://shopify/Product/1` in GraphQL. */

type GidType =
  | 'AbandonedCheckout'
  | 'Collection'
  | 'Customer'
  | 'DiscountAutomaticNode'
  | 'Order'
  | 'Product'
  | 'ScriptTag'

export const toGid = (type: GidType, id: string): string => `gid://shopify/${type}/${id}`

/** Turns `gid://shopify/Product/1` into `1`. */
export const plainId = (gid: string): string => /\/([^/?]+)(\?.*)?$/.exec(gid)?.[1] ?? gid

/** Whether the id can exist at Shopify. Other ids must not be requested. */
export const isPlainId = (id: string): boolean => /^[1-9]\d{0,18}$/.test(id)

/** Converts a timestamp to UTC in ISO 8601. */
export const toInstant = (text: string): string => new Date(text).toISOString()

export const toInstantOrNull = (text: string | null | undefined): string | null =>
  text ? toInstant(text) : null

/** Encodes the state of a paged listing as an opaque cursor. */
export const writeCursor = (place: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url')
