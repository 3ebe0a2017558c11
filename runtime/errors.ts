import { inspect } from 'node:util'
import { soleIndex, soleKinds } from '#db/directory/listed'
import type { Wording } from '#runtime/values/wording'

/**
 * The eight ways a request can be refused. Logic throws `refuse(code, message)`; the message is one
 * sentence for the merchant. Status numbers live here and nowhere else.
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
export const statusOf = (code: ErrorCode): number => statuses[code]

export class Refusal extends Error {
  readonly code: ErrorCode
  readonly headers: Record<string, string> | undefined
  /** How it is said to shoppers; null where only who calls the API hears of it. */
  readonly wording: Wording | null
  /** It says that the same request is to be sent again in a while: it answers for no Idempotency-Key. */
  isPassing = false
  #body: string | null = null
  constructor(code: ErrorCode, message: string | Wording, headers?: Record<string, string>) {
    // A refusal is an answer: nobody reads where it was made, and finding that out costs more than all of a 403.
    const { stackTraceLimit } = Error
    if (code !== 'unavailable') Error.stackTraceLimit = 0
    const wording = typeof message === 'string' ? null : message
    super(wording?.en ?? (message as string))
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.headers = headers
    this.wording = wording
  }

  /** What is answered, as JSON. */
  body(): string {
    this.#body ??= errorBody(this.code, this.message)
    return this.#body
  }
}

/** Stops the operation: `throw refuse('conflict', 'It was sent already')`. What shoppers read has its wording. */
export function refuse(code: ErrorCode, message: string | Wording): Refusal {
  return new Refusal(code, message)
}

/** As long as something else is under way: the same request, with its Idempotency-Key, is to be sent again in a while. */
export function refuseForNow(code: ErrorCode, message: string): Refusal {
  const refusal = refuse(code, message)
  refusal.isPassing = true
  return refusal
}

export const errorBody = (code: ErrorCode, message: string): string =>
  JSON.stringify({ error: { code, message } })

/** A handler may throw anything, also what no text can be made of. */
export const messageOf = (error: unknown): string =>
  error instanceof Error && typeof error.message === 'string' ? error.message : inspect(error)

/** PostgreSQL's reason of a failed statement (`23505` unique violation), on either driver. */
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

/** Whether a statement failed on a unique index, optionally that very one: what a cluster has instead of it counts as it. */
export function isDuplicate(error: unknown, index?: string): boolean {
  if (sqlState(error) !== '23505') return false
  if (index === undefined) return true
  const { constraint_name, constraint = constraint_name, detail, message } = error as Violation
  // Of a shard Citus passes on no more than what was said: it names the index with the number of the shard.
  if (constraint === undefined) return new RegExp(`\\b${index}_\\d+\\b`).test(message)
  if (constraint !== soleIndex) return constraint === index
  return detail?.includes(`(kind, key)=(${soleKinds.get(index)}, `) === true
}
