/** An answer as it is kept for an `Idempotency-Key`. */
export interface StoredAnswer {
  status: number
  body: string
  headers: Record<string, string>
}
