/** Shopify's ids: plain numbers in REST and with us, `gid://shopify/Product/1` in GraphQL. */

export type GidType = 'Collection' | 'Customer' | 'DiscountAutomaticNode' | 'Order' | 'Product'

export const gidOf = (type: GidType, id: string): string => `gid://shopify/${type}/${id}`

/** `gid://shopify/Product/1` as `1`. */
export const plainId = (gid: string): string => /\/([^/?]+)(\?.*)?$/.exec(gid)?.[1] ?? gid

/** Others name nothing at Shopify, and are not asked for. */
export const isPlainId = (id: string): boolean => /^[1-9]\d{0,18}$/.test(id)

/** An instant in our one form. */
export const instantOf = (text: string): string => new Date(text).toISOString()

export const instantOrNull = (text: string | null | undefined): string | null =>
  text ? instantOf(text) : null

/** A cursor of our own: whatever a walk must know, as one word. */
export const writeCursor = (place: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url')
