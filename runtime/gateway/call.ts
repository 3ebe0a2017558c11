/** A request on its way through the steps, and what it comes in and leaves as. */
import type { Access } from '#db/access'
import type { Context, Services } from '#runtime/context'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import type { Trace } from '#runtime/trace'
import type { Answer } from './answers.ts'
import type { Deadline } from './deadline.ts'
import type { Claim } from './idempotency.ts'
import type { KeyRing } from './keys.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'

/** A request as the gateway reads it: from HTTP, or from an assistant's tool. */
export interface IncomingCall {
  readonly method: string
  /** As sent, percent-encoded. */
  readonly path: string
  /** The query as sent, with its question mark. */
  readonly search: string
  readonly ip: string
  /** Whether its address is counted already: with the message that this request is a part of. */
  readonly isCounted?: boolean
  header(name: string): string | undefined
  /** Bytes that have come on its connection. */
  received?(): number
  /** The body as text; refuses past `atMost` bytes while it streams. */
  readBody(atMost: number): Promise<string>
}

/** What all calls share. */
export interface Shared {
  readonly services: Services
  readonly registry: Registry
  readonly keys: KeyRing
  readonly addresses: RateLimiter
  readonly stores: RateLimiter
  readonly deadline: Deadline
  /** Tests: every answer must fit its schema, every refusal be declared, every readOnly operation only read. */
  readonly strict: boolean
}

export interface Call {
  readonly gateway: Shared
  readonly request: IncomingCall
  readonly operation: LoadedOperation | null
  readonly requestId: string
  readonly trace: Trace | null
  /** On the machine's own running clock. */
  readonly startedAt: number
  /** The clock, in milliseconds, as read since the last wait; `running` is the machine's own, likewise. */
  now: number
  running: number
  readonly headers: Record<string, string>
  access: Access | null
  text: string
  /** Path parameters, decoded. */
  params: Record<string, string>
  query: unknown
  body: unknown
  /** Of its Idempotency-Key, while it runs. */
  claim: Claim | null
  context: Context | null
  answer: Answer | null
  /** Of the limit that counted last: the headers tell of it. */
  verdict: Verdict | null
  /** Counts that the shared database has not answered yet: a read waits for them before it answers, a write before it begins. */
  counting: { verdict: Promise<Verdict>; whose: string }[] | null
  /** It was answered without its result, which must not hold any more. */
  isLate: boolean
}

/** Refuses by throwing, or leaves its result on the call. */
export type Step = (call: Call) => Promise<void> | void
