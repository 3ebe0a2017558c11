/** Shopify's ids: plain numbers in REST and in our data, `gid://shopify/Product/1` in GraphQL. */

export type GidType = 'Collection' | 'Customer' | 'DiscountAutomaticNode' | 'Order' | 'Product'

export const toGid = (type: GidType, id: string): string => `gid://shopify/${type}/${id}`

/** `gid://shopify/Product/1` becomes `1`. */
export const plainId = (gid: string): string => /\/([^/?]+)(\?.*)?$/.exec(gid)?.[1] ?? gid

/** Other ids cannot exist at Shopify and are not requested. */
export const isPlainId = (id: string): boolean => /^[1-9]\d{0,18}$/.test(id)

/** Normalizes an instant. */
export const toInstant = (text: string): string => new Date(text).toISOString()

export const toInstantOrNull = (text: string | null | undefined): string | null =>
  text ? toInstant(text) : null

/** Encodes the state of a paged listing as an opaque cursor. */
export const writeCursor = (place: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url')
