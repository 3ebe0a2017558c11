/** One call of Shopify's REST or GraphQL API. */
export interface Call {
  shop: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** True if the call has no side effects, so it can be retried. */
  isRead: boolean
}
