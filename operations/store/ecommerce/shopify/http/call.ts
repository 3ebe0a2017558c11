/** One call of either API. */
export interface Call {
  shop: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** Has no side effects, so it can be retried. */
  isRead: boolean
}
