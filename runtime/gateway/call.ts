/** The input and the state of a request while it passes the gateway's steps. */
import type { Access } from '#db/access'
import type { Context, Services } from '#runtime/context'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import type { Trace } from '#runtime/trace'
import type { Answer } from './answers.ts'
import type { Deadline } from './deadline.ts'
import type { Claim } from './idempotency.ts'
import type { KeyRing } from './keys.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'

/** A request as the gateway reads it: from HTTP, or from an assistant's tool call. */
export interface IncomingCall {
  readonly method: string
  /** As sent, percent-encoded. */
  readonly path: string
  /** The query as sent, with its question mark. */
  readonly search: string
  readonly ip: string
  /** Whether its address was counted already: several tool calls may arrive in one HTTP request. */
  readonly isCounted?: boolean
  header(name: string): string | undefined
  /** Bytes that have arrived on its connection. */
  received?(): number
  /** Closes the connection after the answer if the body has not arrived in whole. */
  closeIfStalled?(): void
  /** The body as text; refuses more than `atMost` bytes while it streams. */
  readBody(atMost: number): Promise<string>
}

/** The services that all calls share. */
export interface GatewayServices {
  readonly services: Services
  readonly registry: Registry
  readonly keys: KeyRing
  readonly addresses: RateLimiter
  readonly stores: RateLimiter
  readonly deadline: Deadline
  /**
   * True in tests: every answer must fit its schema, every refusal must be declared, every `readOnly` operation must
   * only read.
   */
  readonly strict: boolean
}

export interface Call {
  readonly gateway: GatewayServices
  readonly request: IncomingCall
  readonly operation: LoadedOperation | null
  readonly requestId: string
  readonly trace: Trace | null
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number
  /**
   * The clock in milliseconds, as read after the last await; `monotonicMs` is the machine's monotonic clock, likewise.
   */
  now: number
  monotonicMs: number
  readonly headers: Record<string, string>
  access: Access | null
  text: string
  /** Path parameters, decoded. */
  params: Record<string, string>
  query: unknown
  body: unknown
  /** The request's claim on its Idempotency-Key, while the request runs. */
  claim: Claim | null
  context: Context | null
  answer: Answer | null
  /** The verdict of the rate limit that counted last, for the `RateLimit-*` headers. */
  verdict: Verdict | null
  /**
   * Rate-limit counts that the shared database has not returned yet. A read awaits them before it answers, a write
   * before it begins.
   */
  pendingCounts: { verdict: Promise<Verdict>; whose: string }[] | null
  /** True after a timeout was answered: the request's result must not be committed any more. */
  isLate: boolean
}

/** Refuses by throwing, or leaves its result on the call. */
export type Step = (call: Call) => Promise<void> | void
