import { inspect } from 'node:util'
import { uniqueLookupIndex, uniqueLookupKinds } from '#db/lookup-index/definitions'
import type { Wording } from '#runtime/values/wording'

/**
 * The eight error codes of the API. Logic throws `refuse(code, message)`; the message is one sentence for the
 * merchant. Status numbers live here and nowhere else.
 */
const statuses = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  rate_limited: 429,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof statuses
export const errorCodes = Object.keys(statuses) as ErrorCode[]
export const toHttpStatus = (code: ErrorCode): number => statuses[code]

export class ApiError extends Error {
  readonly code: ErrorCode
  readonly headers: Record<string, string> | undefined
  /** The message in the languages of shoppers; null if only callers of the API see the error. */
  readonly wording: Wording | null
  /** True if the same request should be sent again later: the error is then not stored under the Idempotency-Key. */
  isTransient = false
  #body: string | null = null
  constructor(code: ErrorCode, message: string | Wording, headers?: Record<string, string>) {
    // No stack is captured: nobody reads the stack of a refusal, and capturing it costs more than the rest of a 403.
    const { stackTraceLimit } = Error
    if (code !== 'unavailable') Error.stackTraceLimit = 0
    const wording = typeof message === 'string' ? null : message
    super(wording?.en ?? (message as string))
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.headers = headers
    this.wording = wording
  }

  /** The JSON body of the answer. */
  body(): string {
    this.#body ??= errorBody(this.code, this.message)
    return this.#body
  }
}

/**
 * Builds the error that stops an operation: `throw refuse('conflict', 'It was sent already')`. A message that shoppers
 * see is a `Wording`.
 */
export function refuse(code: ErrorCode, message: string | Wording): ApiError {
  return new ApiError(code, message)
}

/**
 * Builds the error of a request that is refused because other work is in progress: the same request, with its
 * Idempotency-Key, should be sent again later.
 */
export function refuseTemporarily(code: ErrorCode, message: string): ApiError {
  const refusal = refuse(code, message)
  refusal.isTransient = true
  return refusal
}

export const errorBody = (code: ErrorCode, message: string): string =>
  JSON.stringify({ error: { code, message } })

/** The message of anything that was thrown, even if it is no Error. */
export const getMessage = (error: unknown): string =>
  error instanceof Error && typeof error.message === 'string' ? error.message : inspect(error)

/** PostgreSQL's error code of a failed statement, such as `23505` for a unique violation, with either driver. */
export function sqlState(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null
}

interface Violation {
  constraint_name?: string
  constraint?: string
  detail?: string
  message: string
}

/**
 * Whether a statement violated a unique index; `index`: only this one. On a cluster, `uniqueLookupIndex` counts as the
 * index that it replaces.
 */
export function isDuplicate(error: unknown, index?: string): boolean {
  if (sqlState(error) !== '23505') return false
  if (index === undefined) return true
  const { constraint_name, constraint = constraint_name, detail, message } = error as Violation
  // Citus passes on only the message of a shard's error, in which the index has the shard's number as a suffix.
  if (constraint === undefined) return new RegExp(`\\b${index}_\\d+\\b`).test(message)
  if (constraint !== uniqueLookupIndex) return constraint === index
  return detail?.includes(`(kind, key)=(${uniqueLookupKinds.get(index)}, `) === true
}
