/** One call of Shopify's, whichever of its interfaces answers it. */
export interface Call {
  shop: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** Nothing changes by it, however often it is asked. */
  isRead: boolean
}
