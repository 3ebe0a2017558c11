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
  /** The text for shoppers; null if only callers of the API see it. */
  readonly wording: Wording | null
  /** The same request should be sent again in a while: this error is not stored for an Idempotency-Key. */
  isTransient = false
  #body: string | null = null
  constructor(code: ErrorCode, message: string | Wording, headers?: Record<string, string>) {
    // Nobody reads the stack of a refusal, and capturing it costs more than the rest of a 403.
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

/** Stops the operation: `throw refuse('conflict', 'It was sent already')`. Texts for shoppers have a wording. */
export function refuse(code: ErrorCode, message: string | Wording): ApiError {
  return new ApiError(code, message)
}

/**
 * Refuses while other work is in progress: the same request, with its Idempotency-Key, should be sent again in a
 * while.
 */
export function refuseTemporarily(code: ErrorCode, message: string): ApiError {
  const refusal = refuse(code, message)
  refusal.isTransient = true
  return refusal
}

export const errorBody = (code: ErrorCode, message: string): string =>
  JSON.stringify({ error: { code, message } })

/** Message of anything a handler throws, including values without a text form. */
export const getMessage = (error: unknown): string =>
  error instanceof Error && typeof error.message === 'string' ? error.message : inspect(error)

/** PostgreSQL's error code of a failed statement (`23505` unique violation), with either driver. */
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
 * Whether a statement violated a unique index, optionally this one. On a cluster, `uniqueLookupIndex` counts as the index that
 * it replaces.
 */
export function isDuplicate(error: unknown, index?: string): boolean {
  if (sqlState(error) !== '23505') return false
  if (index === undefined) return true
  const { constraint_name, constraint = constraint_name, detail, message } = error as Violation
  // Citus passes on only the message of a shard's error: it names the index with the number of the shard.
  if (constraint === undefined) return new RegExp(`\\b${index}_\\d+\\b`).test(message)
  if (constraint !== uniqueLookupIndex) return constraint === index
  return detail?.includes(`(kind, key)=(${uniqueLookupKinds.get(index)}, `) === true
}
