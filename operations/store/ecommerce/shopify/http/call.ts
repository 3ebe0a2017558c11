/** One call of Shopify: a GraphQL document, or the exchange of a token. */
export interface Call {
  shop: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** True if the call has no side effects, so it can be retried. */
  isRead: boolean
}
